import { visibleBlock, visibleLine } from '../../../../untrusted/visible-text.ts'
import type { ProfiledTools } from './profile-tools.ts'
import { filesObserver } from '../environment-config.ts'

const effects = {
  pure: 'computes',
  reading: 'reads',
  writing: 'writes',
  unstable: 'unstable',
  hanging: 'hangs',
  unknown: 'not found out',
} as const

const resets: Record<ProfiledTools['reset'], (kept: ProfiledTools['kept']) => string> = {
  restore: (kept) => `by restoring ${kept}; after that it showed what it showed at first`,
  restart: () => 'by a new process; after that it showed what it showed at first',
  none: () => 'not at all: after a reset it did not show what it showed at first',
}

/**
 * Says what was concluded of each tool and why, how the state is seen, and how it is reset. Reasons are never shortened.
 */
export function describeProfile({
  profiles,
  observers,
  calls,
  reset,
  kept,
  ownFiles,
}: ProfiledTools): string {
  const width = Math.min(40, Math.max(...profiles.map(({ name }) => visibleLine(name, 128).length), 4))
  const longest = Math.max(...Object.values(effects).map((effect) => effect.length))
  const writes = profiles.some(({ effect }) => effect === 'writing')
  const seen = observers.map(({ name, each }) => {
    const shown = name === filesObserver ? kept : visibleLine(name, 128)
    return each === undefined ? shown : `${shown} for each ${each.key} of ${each.of}`
  })
  return [
    `${calls} calls showed what the tools do:`,
    ...profiles.map(
      ({ name, effect, reason }) =>
        `  ${visibleLine(name, 128).padEnd(width)}  ${effects[effect].padEnd(longest)}  ${visibleBlock(reason, '      ')}`,
    ),
    ...(seen.length === 0 ? [] : [`The state is seen through ${[...new Set(seen)].join(', ')}.`]),
    ...(ownFiles.length === 0
      ? []
      : [
          `Not part of the state, because the server writes it for itself: ${shortList(ownFiles.map((path) => visibleLine(path, 128)))}.`,
        ]),
    ...(writes ? [`The state is reset ${resets[reset](kept)}.`] : []),
  ].join('\n')
}

const mostListed = 5

/** The first items of a list, and how many more there are. */
function shortList(items: readonly string[]): string {
  const more = items.length - mostListed
  return more > 0 ? `${items.slice(0, mostListed).join(', ')} and ${more} more` : items.join(', ')
}
