import { AgogeError } from '../../error.ts'
import type { Drawing } from '../world.ts'
import { pageOf } from './page.ts'
import { renderTerminal } from './terminal.ts'
import type { TerminalOptions } from './terminal.ts'

interface AnySlots {
  readonly count: number
}

/** What a frame is taken from: a vector environment of one agent or of several, or the `vector` of a single one. */
export interface Rendered<S extends AnySlots> {
  readonly world: {
    readonly name: string
    readonly draw?: (slots: S, i: number) => Drawing
    readonly text?: (slots: S, i: number) => string
  }
  readonly slots: S
}

/**
 * The drawing of a slot's state: the world's own, else its characters as a page. Throws `no-drawing` for worlds that have
 * neither.
 */
export function drawSlot<S extends AnySlots>({ world, slots }: Rendered<S>, slot = 0): Drawing {
  checkSlot(world.name, slots, slot)
  if (world.draw !== undefined) return world.draw(slots, slot)
  if (world.text !== undefined) return pageOf(world.text(slots, slot))
  throw new AgogeError(`${world.name} cannot be drawn`, {
    code: 'no-drawing',
    given: world.name,
    expected: 'a world with `draw` or `text`',
  })
}

/** A frame of characters: the world's own, else its drawing in half-blocks. Throws `no-drawing`. */
export function renderText<S extends AnySlots>(
  rendered: Rendered<S>,
  slot = 0,
  options: TerminalOptions = {},
): string {
  const { world, slots } = rendered
  checkSlot(world.name, slots, slot)
  return world.text === undefined
    ? renderTerminal(drawSlot(rendered, slot), options)
    : world.text(slots, slot)
}

function checkSlot(name: string, slots: AnySlots, slot: number): void {
  if (Number.isInteger(slot) && slot >= 0 && slot < slots.count) return
  throw new AgogeError(`${name} has no slot ${slot}`, {
    code: 'bad-argument',
    given: slot,
    expected: `a whole number from 0 to ${slots.count - 1}`,
  })
}
