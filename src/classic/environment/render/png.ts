import { AgogeError } from '../../../error.ts'
import type { Drawing } from '../definition.ts'
import { rasterise } from './rasterise.ts'
import type { Image } from './rasterise.ts'

/** Options of `renderPng` and `animatePng`. */
export interface PngOptions {
  /** Width in pixels. The height follows from the drawing. Default: 480. */
  width?: number
}

/** Renders a drawing as a PNG file. */
export const renderPng = async (
  drawing: Drawing,
  { width = 480 }: PngOptions = {},
): Promise<Uint8Array<ArrayBuffer>> => encodePng([rasterise(drawing, width)], 1)

/**
 * Renders drawings as an animated PNG file, which every browser plays in a loop. Viewers without support show
 * the first frame. All frames have the size of the first.
 *
 * @throws AgogeError `bad-argument` without a drawing
 */
export async function animatePng(
  drawings: readonly Drawing[],
  { width = 480, framesPerSecond = 20 }: PngOptions & { framesPerSecond?: number } = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const images: Image[] = []
  for (const drawing of drawings) images.push(rasterise(drawing, width, images[0]?.height))
  return encodePng(images, framesPerSecond)
}

/**
 * Encodes images of one size as a PNG file (PNG specification, third edition; several images use the animation
 * chunks acTL, fcTL and fdAT). Each frame after the first contains only the rectangle that changed.
 */
export async function encodePng(
  images: readonly Image[],
  framesPerSecond: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const [first] = images
  if (first === undefined) {
    throw new AgogeError('an animation needs frames', {
      code: 'bad-argument',
      expected: 'at least one drawing',
    })
  }
  const { width, height } = first
  // 8 bits for each channel: red, green and blue.
  const header = [...word(width), ...word(height), 8, 2, 0, 0, 0]
  const parts = [Uint8Array.of(137, 80, 78, 71, 13, 10, 26, 10), chunk('IHDR', header)]
  const animated = images.length > 1
  if (animated) parts.push(chunk('acTL', [...word(images.length), ...word(0)]))
  let sequence = 0
  for (const [k, image] of images.entries()) {
    const area = k === 0 ? { x: 0, y: 0, width, height } : changedArea(images[k - 1], image)
    if (animated) {
      const place = [area.width, area.height, area.x, area.y].flatMap(word)
      const delay = [0, 100, ...word(Math.round(framesPerSecond * 100)).slice(2)]
      // The frame stays and the next one is painted over it.
      parts.push(chunk('fcTL', [...word(sequence++), ...place, ...delay, 0, 0]))
    }
    const data = await deflate(scanlines(image, area))
    parts.push(k === 0 ? chunk('IDAT', data) : chunk('fdAT', [...word(sequence++)], data))
  }
  parts.push(chunk('IEND', []))
  return join(parts)
}

interface Area {
  x: number
  y: number
  width: number
  height: number
}

/** The smallest rectangle that contains all differences of two images; one pixel if they are equal. */
function changedArea(before: Image, after: Image): Area {
  const { width, height } = after
  let [left, right, top, bottom] = [width, 0, height, 0]
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const k = (y * width + x) * 3
      const same =
        before.pixels[k] === after.pixels[k] &&
        before.pixels[k + 1] === after.pixels[k + 1] &&
        before.pixels[k + 2] === after.pixels[k + 2]
      if (same) continue
      left = Math.min(left, x)
      right = Math.max(right, x)
      top = Math.min(top, y)
      bottom = y
    }
  }
  if (left > right) return { x: 0, y: 0, width: 1, height: 1 }
  return { x: left, y: top, width: right - left + 1, height: bottom - top + 1 }
}

/** The rows of an area. Each starts with its filter number: 2, differences to the row above. */
function scanlines({ width, pixels }: Image, area: Area): Uint8Array<ArrayBuffer> {
  const stride = area.width * 3
  const out = new Uint8Array(area.height * (stride + 1))
  for (let row = 0; row < area.height; row++) {
    const from = ((area.y + row) * width + area.x) * 3
    const to = row * (stride + 1)
    out[to] = 2
    for (let k = 0; k < stride; k++) {
      out[to + 1 + k] = pixels[from + k] - (row === 0 ? 0 : pixels[from + k - width * 3])
    }
  }
  return out
}

/** Compresses to zlib's format, with an API of both Node and browsers. */
async function deflate(data: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([data]).stream().pipeThrough(new CompressionStream('deflate'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

const word = (value: number): number[] => [
  value >>> 24,
  (value >>> 16) & 255,
  (value >>> 8) & 255,
  value & 255,
]

function chunk(type: string, ...content: (readonly number[] | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  const length = content.reduce((sum, part) => sum + part.length, 0)
  const out = new Uint8Array(length + 12)
  out.set(word(length))
  out.set(
    Array.from(type, (character) => character.charCodeAt(0)),
    4,
  )
  let at = 8
  for (const part of content) {
    out.set(part, at)
    at += part.length
  }
  out.set(word(crc32(out.subarray(4, at))), at)
  return out
}

function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value
})

/** The cyclic redundancy check of PNG (ISO 3309). */
function crc32(data: Uint8Array): number {
  let value = 0xffffffff
  for (const byte of data) value = (value >>> 8) ^ crcTable[(value ^ byte) & 255]
  return ~value >>> 0
}
