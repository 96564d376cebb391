import { dotOf, rasterise } from './rasterise.ts'
import { inflateSync } from 'node:zlib'
import { beforeAll, expect, test } from 'vitest'
import { cartPole } from '../../environments/control/cart-pole.ts'
import { classicEnvironments } from '../../environments/catalogue.ts'
import { chain } from '../../environments/grid/chain.ts'
import { fourRooms } from '../../environments/grid/four-rooms.ts'
import { loadMujoco } from '../../environments/mujoco/physics.ts'
import { createVectorEnvironment } from '../vector.ts'
import { defineEnvironment } from '../definition.ts'
import type { Drawing } from '../definition.ts'
import { animateSvg, parseColour, renderSvg } from './svg.ts'
import { animatePng, renderPng } from './png.ts'
import { drawEnv, renderText, renderTerminal } from './render.ts'

const half = (fill: string): Drawing => ({
  view: [0, 0, 4, 2],
  shapes: [{ type: 'rectangle', x: 0, y: 0, width: 2, height: 2, fill }],
})
const pixel = ({ width, pixels }: ReturnType<typeof rasterise>, x: number, y: number): number[] =>
  Array.from(pixels.subarray((y * width + x) * 3, (y * width + x) * 3 + 3))

test('colours', () => {
  expect(parseColour('#c70')).toEqual([0xcc, 0x77, 0, 1])
  expect(parseColour('#102030')).toEqual([16, 32, 48, 1])
  expect(parseColour('#10203080')[3]).toBeCloseTo(128 / 255, 12)
  expect(parseColour('white')).toEqual([255, 255, 255, 1])
  expect(() => parseColour('heliotrope')).toThrow(expect.objectContaining({ code: 'bad-colour' }))
})

test('a rectangle paints its pixels, and a half-covered pixel by half', () => {
  const image = rasterise(half('#ff0000'), 8)
  expect([image.width, image.height]).toEqual([8, 4])
  expect([pixel(image, 3, 0), pixel(image, 4, 0)]).toEqual([
    [255, 0, 0],
    [255, 255, 255],
  ])
  const shifted: Drawing = {
    view: [0, 0, 4, 2],
    shapes: [{ type: 'rectangle', x: 0, y: 0, width: 2.25, height: 2, fill: '#000' }],
  }
  expect(pixel(rasterise(shifted, 8), 4, 1)[0]).toBeGreaterThan(120)
  expect(pixel(rasterise(shifted, 8), 4, 1)[0]).toBeLessThan(135)
})

test('painted areas of shapes are correct, with y upwards', () => {
  const dark = (drawing: Drawing): number => {
    const { pixels } = rasterise(drawing, 200)
    let sum = 0
    for (let k = 0; k < pixels.length; k += 3) sum += 255 - pixels[k]
    return sum / 255 / 400
  }
  const view = [0, 0, 10, 10] as const
  const fill = '#000'
  expect(dark({ view, shapes: [{ type: 'circle', x: 5, y: 5, radius: 3, fill }] })).toBeCloseTo(
    9 * Math.PI,
    1,
  )
  const turned = { type: 'rectangle', x: 3, y: 4, width: 4, height: 2, fill, angle: 0.7 } as const
  expect(dark({ view, shapes: [turned] })).toBeCloseTo(8, 1)
  const points = [
    [2, 2],
    [8, 2],
  ] as const
  const line = { type: 'line', points, stroke: fill, width: 1 } as const
  expect(dark({ view, shapes: [line] })).toBeCloseTo(6 + Math.PI / 4, 1)
  const low = rasterise({ view, shapes: [line] }, 10)
  expect([pixel(low, 5, 7)[0] < 200, pixel(low, 5, 2)[0]]).toEqual([true, 255])
  // A quarter turn counter-clockwise of a bar that points to the right points up.
  const up = rasterise(
    { view, shapes: [{ type: 'rectangle', x: 3, y: 4.5, width: 4, height: 1, fill, angle: 1 }] },
    100,
  )
  expect([pixel(up, 58, 38)[0], pixel(up, 58, 62)[0]]).toEqual([0, 255])
})

test('letters are painted at their position', () => {
  const image = rasterise(
    { view: [0, 0, 20, 10], shapes: [{ type: 'text', x: 0, y: 0, text: 'l1', size: 50 / 7 }] },
    20,
  )
  const rows = Array.from({ length: 5 }, (_, y) =>
    Array.from({ length: 7 }, (_, x) => (pixel(image, x, 5 + y)[0] === 0 ? '#' : '.')).join(''),
  )
  expect(rows).toEqual(['#....#.', '#...##.', '#....#.', '#....#.', '###.###'])
})

test('an SVG has the shapes of the view, with y flipped and text escaped', () => {
  const svg = renderSvg({
    view: [-1, 0, 4, 2],
    shapes: [
      { type: 'circle', x: 1, y: 0.5, radius: 0.25, fill: '#c70' },
      { type: 'rectangle', x: 0, y: 0, width: 2, height: 1, fill: '#333', angle: Math.PI / 2 },
      {
        type: 'line',
        points: [
          [0, 0],
          [1, 2],
        ],
        stroke: '#000',
        width: 0.1,
      },
      { type: 'text', x: 0, y: 1, text: 'a  < "b" & c' },
    ],
  })
  expect(svg).toContain('width="480" height="240" viewBox="-1 -2 4 2"')
  expect(svg).toContain('<circle cx="1" cy="-0.5" r="0.25" fill="#c70"/>')
  expect(svg).toContain(
    '<rect x="0" y="-1" width="2" height="1" fill="#333" transform="rotate(-90 1 -0.5)"/>',
  )
  expect(svg).toContain('<rect x="-1" y="-2" width="4" height="2" fill="#fff"/>')
  expect(svg).toContain('points="0,0 1,-2"')
  expect(svg).toContain('xml:space="preserve">a  &lt; &quot;b&quot; &amp; c</text>')
})

test('an animated SVG shows the frames in order', () => {
  const svg = animateSvg(['#100', '#200', '#300', '#400'].map(half), { framesPerSecond: 8, width: 40 })
  expect(svg.match(/<g /g)?.length).toBe(4)
  expect(svg).toContain('values="visible;hidden" keyTimes="0;0.25" dur="0.5s"')
  expect(svg).toContain('values="hidden;visible;hidden" keyTimes="0;0.25;0.5"')
  expect(svg).toContain('values="hidden;visible" keyTimes="0;0.75"')
  expect(() => animateSvg([])).toThrow(expect.objectContaining({ code: 'bad-argument' }))
})

/** The chunks of a PNG file. */
function chunks(file: Uint8Array): { type: string; data: Buffer }[] {
  const buffer = Buffer.from(file)
  const found: { type: string; data: Buffer }[] = []
  for (let at = 8; at < buffer.length;) {
    const length = buffer.readUInt32BE(at)
    found.push({
      type: buffer.toString('latin1', at + 4, at + 8),
      data: buffer.subarray(at + 8, at + 8 + length),
    })
    at += length + 12
  }
  return found
}

/** Pixels of scanlines of the filter for differences to the row above. */
function unfilter(data: Buffer, width: number, height: number): number[][] {
  const rows: number[][] = []
  for (let y = 0; y < height; y++) {
    const line = data.subarray(y * (width * 3 + 1), (y + 1) * (width * 3 + 1))
    expect(line[0]).toBe(2)
    rows.push(Array.from(line.subarray(1), (value, k) => (value + (rows[y - 1]?.[k] ?? 0)) & 255))
  }
  return rows
}

test('a PNG file contains the pixels', async () => {
  const file = await renderPng(half('#102030'), { width: 8 })
  const parts = chunks(file)
  expect(parts.map(({ type }) => type)).toEqual(['IHDR', 'IDAT', 'IEND'])
  const image = rasterise(half('#102030'), 8)
  expect(unfilter(inflateSync(parts[1].data), 8, 4).flat()).toEqual(Array.from(image.pixels))
  // A known one: the check of an empty IEND chunk.
  expect(Buffer.from(file).subarray(-4).toString('hex')).toBe('ae426082')
})

test('an animated PNG contains the changed areas, numbered in one sequence', async () => {
  const frames = ['#f00', '#f00', '#0f0'].map(half)
  const parts = chunks(await animatePng(frames, { width: 8, framesPerSecond: 5 }))
  expect(parts.map(({ type }) => type).join(' ')).toBe('IHDR acTL fcTL IDAT fcTL fdAT fcTL fdAT IEND')
  const numbered = parts.filter(({ type }) => type === 'fcTL' || type === 'fdAT')
  expect(numbered.map(({ data }) => data.readUInt32BE(0))).toEqual([0, 1, 2, 3, 4])
  const areas = parts
    .filter(({ type }) => type === 'fcTL')
    .map(({ data }) => [4, 8, 12, 16].map((at) => data.readUInt32BE(at)))
  expect(areas).toEqual([
    [8, 4, 0, 0],
    [1, 1, 0, 0],
    [4, 4, 0, 0],
  ])
  const control = parts.find(({ type }) => type === 'fcTL')?.data
  expect(Number(control?.readUInt16BE(20)) / Number(control?.readUInt16BE(22))).toBe(0.2)
  const last = unfilter(inflateSync(parts[7].data.subarray(4)), 4, 4)
  expect(last[3].slice(0, 3)).toEqual([0, 255, 0])
})

test('half-blocks are plain without a terminal and coloured on request', () => {
  expect(renderTerminal(half('#000'), { columns: 8 })).toBe('████\n████')
  const coloured = renderTerminal(half('#010203'), { columns: 4, colour: true })
  expect(coloured.startsWith('\u001b[38;2;1;2;3;48;2;1;2;3m▀')).toBe(true)
  expect(coloured.endsWith('\u001b[0m')).toBe(true)
})

test('a frame uses the text of the environment or else its drawing; errors name what is missing', () => {
  const grid = createVectorEnvironment(fourRooms, { numEnvs: 2 })
  grid.reset()
  expect(renderText(grid, 1)).toContain('@')
  const pole = createVectorEnvironment(cartPole, { numEnvs: 1 })
  pole.reset()
  expect(renderText(pole)).toContain('█')
  expect(drawEnv(pole).shapes.length).toBeGreaterThan(1)
  expect(() => renderText(pole, 1)).toThrow(expect.objectContaining({ code: 'bad-argument' }))
  const { draw: _, ...rest } = cartPole
  const blind = createVectorEnvironment(defineEnvironment(rest), { numEnvs: 1 })
  blind.reset()
  expect(() => drawEnv(blind)).toThrow(expect.objectContaining({ code: 'no-drawing' }))
})

beforeAll(() => loadMujoco())

test.each(Object.values(classicEnvironments))('$name renders as an image and as text', (definition) => {
  const environment = createVectorEnvironment(definition, { numEnvs: 2, seed: 1 })
  environment.reset()
  const drawing = drawEnv(environment, 1)
  expect(renderSvg(drawing)).toMatch(/^<svg [\s\S]*<\/svg>/)
  expect(renderSvg(drawing)).not.toContain('NaN')
  expect(drawing.shapes.length).toBeGreaterThan(0)
  expect(renderText(environment, 1).trim()).not.toBe('')
})

test('text renders as a page, line by line', () => {
  const environment = createVectorEnvironment(chain, { numEnvs: 1 })
  environment.reset()
  const lines = drawEnv(environment).shapes.flatMap((shape) => (shape.type === 'text' ? [shape.text] : []))
  expect(lines.join('\n')).toBe(chain.text?.(environment.envs, 0))
})

test('the font has all characters that environments draw', () => {
  const dots = (character: string): string =>
    Array.from({ length: 15 }, (_, k) => dotOf(character, Math.floor(k / 3), k % 3)).join()
  for (const character of '@#|<>^+-:_.') expect(dots(character), character).not.toBe(dots('?'))
  expect(dots('~')).toBe(dots('?'))
})
