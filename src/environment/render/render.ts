import { AgogeError } from '../../error.ts'
import type { Drawing, Slots, World } from '../world.ts'
import { renderTerminal } from './terminal.ts'
import type { TerminalOptions } from './terminal.ts'

/** What a frame is taken from: a vector environment, or the `vector` of a single one. */
export interface Rendered {
  readonly world: World
  readonly slots: Slots
}

/** The drawing of a slot's state. Throws `no-drawing` for worlds that have none. */
export function drawSlot({ world, slots }: Rendered, slot = 0): Drawing {
  checkSlot(world, slots, slot)
  if (world.draw !== undefined) return world.draw(slots, slot)
  throw new AgogeError(`${world.name} cannot be drawn`, {
    code: 'no-drawing',
    given: world.name,
    expected: 'a world with `draw`',
    ...(world.text === undefined ? {} : { hint: 'renderText shows it as characters' }),
  })
}

/** A frame of characters: the world's own, else its drawing in half-blocks. Throws `no-drawing`. */
export function renderText(rendered: Rendered, slot = 0, options: TerminalOptions = {}): string {
  const { world, slots } = rendered
  checkSlot(world, slots, slot)
  return world.text === undefined
    ? renderTerminal(drawSlot(rendered, slot), options)
    : world.text(slots, slot)
}

function checkSlot(world: World, slots: Slots, slot: number): void {
  if (Number.isInteger(slot) && slot >= 0 && slot < slots.count) return
  throw new AgogeError(`${world.name} has no slot ${slot}`, {
    code: 'bad-argument',
    given: slot,
    expected: `a whole number from 0 to ${slots.count - 1}`,
  })
}
