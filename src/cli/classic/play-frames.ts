import { setTimeout as wait } from 'node:timers/promises'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { animatePng, animateSvg, drawEnv, renderSvg } from '../../classic/environment/index.ts'
import type { AnyVector, Drawing, DrawnShape } from '../../classic/environment/index.ts'
import { returnText } from '../../classic/training/report.ts'
import type { Console } from '../shared/console.ts'
import { AgogeError } from '../../error.ts'
import { checkFile, checkFolder, writeWhole } from '../../runs/files.ts'

/** Where frames are shown. */
interface Frames {
  /** Steps between two frames. The last frame of an episode is always shown. */
  readonly every: number
  show(environment: AnyVector, episode: number, step: number): Promise<void> | void
  /** Prints a line about a finished episode. */
  keep(text: string): void
  /** Restores the terminal, also after an interrupt. */
  close(): Promise<void> | void
}

/** Makes a screen: on a terminal each frame replaces the last, elsewhere frames follow each other. */
export function createScreen(
  { out, progress, signal }: Console,
  { fps, every }: { fps: number; every?: number },
): Frames {
  const live = progress.isTTY === true
  let drawn = 0
  const erase = (): void => {
    if (drawn > 0) progress.write(`\u001B[${drawn}A\u001B[J`)
    drawn = 0
  }
  return {
    every: every ?? (live ? 1 : 25),
    async show(environment, episode, step) {
      const columns = Math.min(widest, (progress.columns ?? widest + 1) - 1)
      const text = `${frame(environment, columns)}\n${status(environment, episode, step)}`
      if (!live) return out(text)
      // A line that the terminal wraps would be counted as one.
      const shown = text.replaceAll(/^.*$/gm, (line) => Array.from(line).slice(0, columns).join(''))
      erase()
      progress.write(`${shown}\n`)
      drawn = shown.split('\n').length
      await wait(1000 / fps, undefined, { signal })
    },
    keep(text) {
      erase()
      out(text)
    },
    close: () => {},
  }
}

/** Characters in a line of a drawing. */
const widest = 64

function frame({ definition, envs }: AnyVector, columns: number): string {
  if (definition.text !== undefined) return definition.text(envs, 0)
  if (definition.draw !== undefined) return drawText(definition.draw(envs, 0), columns)
  return `observation ${Array.from(envs.observations, (value) => value.toFixed(3)).join(' ')}`
}

function status({ actions, rewards, returns }: AnyVector, episode: number, step: number): string {
  const action = Array.from(actions, (value) => (Number.isInteger(value) ? value : value.toFixed(2))).join(
    ' ',
  )
  const before = step === 0 ? '' : `  action ${action}  reward ${returnText(rewards[0])}`
  return `episode ${episode}  step ${step}${before}  return ${returnText(returns[0])}`
}

/**
 * Writes frames to `path`: one animated image if it ends in .svg or .png, otherwise a folder of SVG images. Ctrl-C
 * keeps the frames written so far.
 *
 * @throws AgogeError for other file endings, and for paths that cannot be written.
 */
export function createRecording(
  path: string,
  { out }: Console,
  { fps, every = 1 }: { fps: number; every?: number },
): Frames {
  const ending = /\.\w+$/.exec(path)?.[0].toLowerCase()
  if (ending !== undefined && ending !== '.svg' && ending !== '.png') {
    throw new AgogeError(`Frames cannot be written as ${ending}`, {
      code: 'bad-option',
      given: path,
      expected: 'a file.svg or file.png (both animated), or a folder for one SVG image a frame',
      ...(ending === '.gif' || ending === '.apng'
        ? { hint: 'an animated PNG is shown wherever a GIF is' }
        : {}),
    })
  }
  if (ending === undefined) checkFrames(path)
  else checkFile(path)
  const drawings: Drawing[] = []

  return {
    every,
    show(environment) {
      drawings.push(drawEnv(environment))
    },
    keep: out,
    async close() {
      if (drawings.length === 0) return
      if (ending === '.png') writeWhole(path, await animatePng(drawings, { framesPerSecond: fps }))
      else if (ending === '.svg') writeWhole(path, animateSvg(drawings, { framesPerSecond: fps }))
      else
        for (const [k, drawing] of drawings.entries())
          writeWhole(join(path, frameName(k)), renderSvg(drawing))
      out(`${path}: ${drawings.length} frames`)
    },
  }
}

const frameName = (k: number): string => `frame-${String(k).padStart(5, '0')}.svg`

/** Removes frames of an earlier recording, which would mix with the new ones. */
function checkFrames(path: string): void {
  if (existsSync(join(path, frameName(0)))) {
    throw new AgogeError(`${path} already holds frames`, {
      code: 'folder-not-empty',
      given: resolve(path),
      expected: 'a folder without frames, or a new one',
      hint: 'Choose another folder, or remove the frames',
    })
  }
  checkFolder(resolve(path))
}

/** Dots of a braille character, by column and row. */
const dots = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
]

/**
 * Renders a drawing as lines of braille characters, 2 x 4 dots each. The width is given; the view of the drawing
 * determines the height.
 */
export function drawText({ view, shapes }: Drawing, columns = 64): string {
  const [left, bottom, width, height] = view
  const across = columns * 2
  const rows = Math.max(1, Math.round((across * height) / width / 4))
  const down = rows * 4
  const cells = new Uint8Array(columns * rows)
  const labels: { at: number; row: number; text: string }[] = []
  const column = (x: number): number => ((x - left) / width) * (across - 1)
  const line = (y: number): number => (1 - (y - bottom) / height) * (down - 1)

  function dot(c: number, r: number): void {
    const [x, y] = [Math.round(c), Math.round(r)]
    if (x < 0 || y < 0 || x >= across || y >= down) return
    cells[(y >> 2) * columns + (x >> 1)] |= dots[x & 1][y & 3]
  }

  function stroke(x0: number, y0: number, x1: number, y1: number): void {
    const [c0, r0, c1, r1] = [column(x0), line(y0), column(x1), line(y1)]
    const steps = Math.min(4 * across, Math.max(1, Math.ceil(Math.max(Math.abs(c1 - c0), Math.abs(r1 - r0)))))
    for (let i = 0; i <= steps; i++) dot(c0 + ((c1 - c0) * i) / steps, r0 + ((r1 - r0) * i) / steps)
  }

  function outline(points: readonly (readonly [number, number])[]): void {
    for (let i = 1; i < points.length; i++) stroke(...points[i - 1], ...points[i])
  }

  function paint(shape: DrawnShape): void {
    switch (shape.type) {
      case 'line':
        return outline(shape.points)
      case 'circle':
        return outline(
          Array.from({ length: 33 }, (_, i) => {
            const angle = (i * Math.PI) / 16
            return [
              shape.x + shape.radius * Math.cos(angle),
              shape.y + shape.radius * Math.sin(angle),
            ] as const
          }),
        )
      case 'rectangle':
        return outline(corners(shape))
      case 'text':
        labels.push({ at: Math.round(column(shape.x) / 2), row: line(shape.y) >> 2, text: shape.text })
    }
  }

  for (const shape of shapes) paint(shape)
  return Array.from({ length: rows }, (_, r) => {
    const characters = Array.from(cells.subarray(r * columns, (r + 1) * columns), (bits) =>
      bits === 0 ? ' ' : String.fromCharCode(0x2800 + bits),
    )
    for (const { at, row, text } of labels)
      if (row === r)
        for (const [i, c] of Array.from(text).entries())
          if (at + i >= 0 && at + i < columns) characters[at + i] = c
    return characters.join('').trimEnd()
  }).join('\n')
}

/** A closed polygon, rotated about the centre by `angle` rad. */
function corners({ x, y, width, height, angle = 0 }: Extract<DrawnShape, { type: 'rectangle' }>) {
  const [cx, cy] = [x + width / 2, y + height / 2]
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
  return [
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
    [-1, -1],
  ].map(([a, b]) => {
    const [dx, dy] = [(a * width) / 2, (b * height) / 2]
    return [cx + dx * cos - dy * sin, cy + dx * sin + dy * cos] as const
  })
}
