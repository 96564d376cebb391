import { f32, i32, int, repeat, scalar, v128, vector, whileLoop } from './assembler.ts'
import type { Code, FunctionBuilder, Local, ValueType, WasmFunction } from './assembler.ts'

/** Length of a block of the inner sum, so that repeated reads stay in the L1 cache. */
const block = 64
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i)
const many = (builder: FunctionBuilder, count: number, type: ValueType): Local[] =>
  numbers(count).map(() => builder.local(type))
const bytes = (count: Code): Code => int.shiftLeft(count, int.constant(2))
const times = (bytes: Local, count: number): Code => int.mul(bytes.get, int.constant(count))

/**
 * c [rows, columns] = a [rows, inner] b [inner, columns] + start [columns]. Element (i, k) of a is at `a + i *
 * aRow + k * aInner`, so a may be transposed. Rows of b and c are contiguous. Addresses and strides in bytes;
 * `inner` is at least 1.
 *
 * Tiles of 4 rows and 8 columns stay in registers: eight sums, for which a step reads four numbers and two
 * vectors.
 */
export const matmul: WasmFunction = {
  name: 'matmul',
  parameters: numbers(9).map(() => i32),
  code: ([a, aRow, aInner, b, start, c, rows, inner, columns], builder) => {
    const [aAt, bAt, cAt, startAt, startRow, rowBytes] = many(builder, 6, i32)
    const [rowsLeft, columnsLeft, steps, step, at] = many(builder, 5, i32)
    const lefts = many(builder, 4, i32)
    const sums = many(builder, 8, v128)
    const rights = many(builder, 2, v128)
    const splat = builder.local(v128)
    const singles = many(builder, 4, f32)
    const single = builder.local(f32)

    function tile(height: number, width: number): Code {
      const high = numbers(height)
      const wide = numbers(width >> 2)
      const sum = (i: number, j: number): Local => sums[i * wide.length + j]
      const eachRow = (from: Local, stride: Local, f: (i: number) => Code): Code => [
        at.set(from.get),
        high.map((i) => [f(i), i + 1 < height ? at.add(stride.get) : []]),
      ]
      const advance: Code = [high.map((i) => lefts[i].add(aInner.get)), at.add(rowBytes.get)]
      const multiplyVectors: Code = [
        wide.map((j) => rights[j].set(vector.load(at.get, j * 16))),
        high.map((i) => [
          splat.set(vector.loadSplat(lefts[i].get)),
          wide.map((j) => sum(i, j).set(vector.add(sum(i, j).get, vector.mul(splat.get, rights[j].get)))),
        ]),
      ]
      const multiplySingles: Code = [
        single.set(scalar.load(at.get)),
        high.map((i) =>
          singles[i].set(scalar.add(singles[i].get, scalar.mul(scalar.load(lefts[i].get), single.get))),
        ),
      ]
      return [
        high.map((i) => lefts[i].set(i === 0 ? aAt.get : int.add(lefts[i - 1].get, aRow.get))),
        eachRow(startAt, startRow, (i) =>
          width === 1
            ? singles[i].set(scalar.load(at.get))
            : wide.map((j) => sum(i, j).set(vector.load(at.get, j * 16))),
        ),
        at.set(bAt.get),
        step.set(steps.get),
        repeat(
          [width === 1 ? multiplySingles : multiplyVectors, advance],
          step.tee(int.sub(step.get, int.constant(1))),
        ),
        eachRow(cAt, rowBytes, (i) =>
          width === 1
            ? scalar.store(at.get, singles[i].get)
            : wide.map((j) => vector.store(at.get, sum(i, j).get, j * 16)),
        ),
      ]
    }

    const rowOfTiles = (height: number): Code => [
      bAt.set(b.get),
      columnsLeft.set(columns.get),
      [8, 4, 1].map((width) =>
        whileLoop(int.notLess(columnsLeft.get, int.constant(width)), [
          tile(height, width),
          [bAt, cAt, startAt].map((pointer) => pointer.add(int.constant(width * 4))),
          columnsLeft.add(int.constant(-width)),
        ]),
      ),
      // The end of the tiles, one row further.
      cAt.add(times(rowBytes, height - 1)),
      startAt.add(int.sub(times(startRow, height), rowBytes.get)),
      aAt.add(times(aRow, height)),
      rowsLeft.add(int.constant(-height)),
    ]
    return [
      rowBytes.set(bytes(columns.get)),
      whileLoop(inner.get, [
        steps.set(int.smaller(inner.get, int.constant(block))),
        aAt.set(a.get),
        cAt.set(c.get),
        startAt.set(start.get),
        rowsLeft.set(rows.get),
        [4, 1].map((height) =>
          whileLoop(int.notLess(rowsLeft.get, int.constant(height)), rowOfTiles(height)),
        ),
        // The next block adds to the existing sums.
        start.set(c.get),
        startRow.set(rowBytes.get),
        a.add(int.mul(aInner.get, steps.get)),
        b.add(int.mul(rowBytes.get, steps.get)),
        inner.set(int.sub(inner.get, steps.get)),
      ]),
    ]
  },
}

/**
 * c [rows, columns] = a [rows, inner] times the transpose of b [columns, inner], + start [columns]. All are
 * contiguous. Addresses in bytes. For few rows; with many, transposing b first is faster.
 */
export const matmulTransposed: WasmFunction = {
  name: 'matmulTransposed',
  parameters: numbers(7).map(() => i32),
  code: ([a, b, start, c, rows, inner, columns], builder) => {
    const [innerBytes, rowBytes, columnsLeft, step, bAt, startAt] = many(builder, 6, i32)
    const lefts = many(builder, 2, i32)
    const rights = many(builder, 4, i32)
    const sums = many(builder, 8, v128)
    const loaded = many(builder, 2, v128)
    const right = builder.local(v128)

    function tile(height: number, width: number): Code {
      const high = numbers(height)
      const wide = numbers(width)
      const sum = (i: number, j: number): Local => sums[i * width + j]
      const multiply = (load: typeof vector.load, offsets: readonly number[], count: number): Code => [
        offsets.map((offset) => [
          high.map((i) => loaded[i].set(load(lefts[i].get, offset))),
          wide.map((j) => [
            right.set(load(rights[j].get, offset)),
            high.map((i) => sum(i, j).set(vector.add(sum(i, j).get, vector.mul(loaded[i].get, right.get)))),
          ]),
        ]),
        [...lefts.slice(0, height), ...rights.slice(0, width)].map((p) => p.add(int.constant(count * 4))),
        step.add(int.constant(-count)),
      ]
      const address = (i: number): Code => (i === 0 ? c.get : int.add(c.get, rowBytes.get))
      return [
        high.map((i) => lefts[i].set(i === 0 ? a.get : int.add(lefts[i - 1].get, innerBytes.get))),
        wide.map((j) => rights[j].set(j === 0 ? bAt.get : int.add(rights[j - 1].get, innerBytes.get))),
        high.map((i) => wide.map((j) => sum(i, j).set(vector.constant(0)))),
        step.set(inner.get),
        whileLoop(int.notLess(step.get, int.constant(16)), multiply(vector.load, [0, 16, 32, 48], 16)),
        whileLoop(int.notLess(step.get, int.constant(4)), multiply(vector.load, [0], 4)),
        whileLoop(step.get, multiply(vector.loadFirst, [0], 1)),
        high.map((i) => {
          const row = wide.map((j) => sum(i, j))
          return width === 1
            ? scalar.store(address(i), scalar.add(scalar.load(startAt.get), laneSum(row[0].get)))
            : vector.store(address(i), vector.add(vector.load(startAt.get), laneSums(row, loaded)))
        }),
      ]
    }

    return [
      innerBytes.set(bytes(inner.get)),
      rowBytes.set(bytes(columns.get)),
      [2, 1].map((height) =>
        whileLoop(int.notLess(rows.get, int.constant(height)), [
          bAt.set(b.get),
          startAt.set(start.get),
          columnsLeft.set(columns.get),
          [4, 1].map((width) =>
            whileLoop(int.notLess(columnsLeft.get, int.constant(width)), [
              tile(height, width),
              bAt.add(times(innerBytes, width)),
              [c, startAt].map((pointer) => pointer.add(int.constant(width * 4))),
              columnsLeft.add(int.constant(-width)),
            ]),
          ),
          c.add(times(rowBytes, height - 1)),
          a.add(times(innerBytes, height)),
          rows.add(int.constant(-height)),
        ]),
      ),
    ]
  },
}

/** to [columns, rows] = the transpose of from [rows, columns]. Neither is empty. Addresses in bytes. */
export const transpose: WasmFunction = {
  name: 'transpose',
  parameters: numbers(4).map(() => i32),
  code: ([from, to, rows, columns], builder) => {
    const [at, fromAt, left, rowBytes, columnBytes] = many(builder, 5, i32)
    const [a, b, c, d, p, q, r, s] = many(builder, 8, v128)
    const row = (start: Local, stride: Local, i: number): Code => int.add(start.get, times(stride, i))
    const low = (x: Local, y: Local): Code => vector.shuffle(x.get, y.get, [0, 4, 1, 5])
    const high = (x: Local, y: Local): Code => vector.shuffle(x.get, y.get, [2, 6, 3, 7])
    /** Transposes four rows and four columns, by way of pairs. */
    const square: Code = [
      [a, b, c, d].map((x, i) => x.set(vector.load(row(fromAt, columnBytes, i)))),
      [p.set(low(a, c)), q.set(low(b, d)), r.set(high(a, c)), s.set(high(b, d))],
      [low(p, q), high(p, q), low(r, s), high(r, s)].map((x, i) => vector.store(row(at, rowBytes, i), x)),
    ]
    /** `height` rows, in steps of `height` columns. */
    const strip = (height: number): Code => [
      at.set(to.get),
      fromAt.set(from.get),
      left.set(columns.get),
      whileLoop(int.notLess(left.get, int.constant(height)), [
        height === 4 ? square : scalar.store(at.get, scalar.load(fromAt.get)),
        at.add(times(rowBytes, height)),
        fromAt.add(int.constant(height * 4)),
        left.add(int.constant(-height)),
      ]),
    ]
    /** The remaining columns beside a strip of four rows. */
    const rest: Code = whileLoop(left.get, [
      numbers(4).map((i) =>
        scalar.store(int.add(at.get, int.constant(i * 4)), scalar.load(row(fromAt, columnBytes, i))),
      ),
      at.add(rowBytes.get),
      fromAt.add(int.constant(4)),
      left.add(int.constant(-1)),
    ])
    const down = (height: number): Code => [
      from.add(times(columnBytes, height)),
      to.add(int.constant(height * 4)),
      rows.add(int.constant(-height)),
    ]
    return [
      rowBytes.set(bytes(rows.get)),
      columnBytes.set(bytes(columns.get)),
      whileLoop(int.notLess(rows.get, int.constant(4)), [strip(4), rest, down(4)]),
      whileLoop(rows.get, [strip(1), down(1)]),
    ]
  },
}

/** For modules that combine them with their own kernels. */
export const matrixProducts = { matmul, matmulTransposed } as const

/** The sum of the four lanes. */
const laneSum = (value: Code): Code =>
  [0, 1, 2, 3].map((lane) => vector.lane(value, lane)).reduce((a, b) => scalar.add(a, b))

/** The sums of the lanes of four vectors, as one vector. */
function laneSums([a, b, c, d]: readonly Local[], [x, y]: readonly Local[]): Code {
  const fold = (p: Local, q: Local, low: readonly number[], high: readonly number[]): Code =>
    vector.add(vector.shuffle(p.get, q.get, low), vector.shuffle(p.get, q.get, high))
  return [
    x.set(fold(a, b, [0, 4, 1, 5], [2, 6, 3, 7])),
    y.set(fold(c, d, [0, 4, 1, 5], [2, 6, 3, 7])),
    fold(x, y, [0, 1, 4, 5], [2, 3, 6, 7]),
  ]
}
