import type { Space } from './space.ts'

/** A space in a few words, for errors: `discrete(2)`, `box([4], float32)`, `dict({ a: discrete(2) })`. */
export function describeSpace(space: Space): string {
  switch (space.type) {
    case 'box':
      return `box([${space.shape.join(', ')}], ${space.dtype})`
    case 'discrete':
      return space.start === 0 ? `discrete(${space.n})` : `discrete(${space.n}, start ${space.start})`
    case 'multi-discrete':
      return `multiDiscrete([${space.counts.join(', ')}])`
    case 'multi-binary':
      return `multiBinary(${space.n})`
    case 'text':
      return `text of ${space.minLength} to ${space.maxLength} characters`
    case 'tuple':
      return `tuple(${space.spaces.map(describeSpace).join(', ')})`
    case 'dict':
      return `dict({ ${Object.entries(space.spaces)
        .map(([name, part]) => `${name}: ${describeSpace(part)}`)
        .join(', ')} })`
    case 'sequence':
      return `sequence(${describeSpace(space.space)})`
  }
}
