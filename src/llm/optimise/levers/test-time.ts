import type { TestTime } from '../../setup/setup.ts'
import type { Lever, LeverContext } from '../lever.ts'

/**
 * More computation for each answer: the most frequent of several samples, the one that another model prefers, or a check and another attempt.
 *
 * Source: Wang et al., Self-Consistency (arXiv 2203.11171); Cobbe et al., Training Verifiers (arXiv 2110.14168) for the best of several.
 */
export const testTime: Lever = {
  name: 'test-time',
  source: 'self-consistency (arXiv 2203.11171), best of n (arXiv 2110.14168)',
  // Of its cheapest method.
  costFactor: 3,
  unusable: () => undefined,
  propose: (context) =>
    Promise.resolve(
      methods(context)[context.round]?.map((method) => ({
        setup: { ...context.original, testTime: method },
        about: described(method),
        costFactor: method.method === 'verify' ? 1 + method.retries : method.count,
      })) ?? [],
    ),
}

/** Cheap ones first. */
function methods({ models, tools, canVerify }: LeverContext): TestTime[][] {
  const [, ...others] = models
  return [
    [
      ...(tools.length > 0 || canVerify ? [{ method: 'verify', retries: 2 } as const] : []),
      { method: 'votes', count: 3 },
    ],
    [{ method: 'votes', count: 7 }, ...others.map((judge) => ({ method: 'best', count: 3, judge }) as const)],
  ]
}

function described(method: TestTime): string {
  if (method.method === 'votes') return `the most frequent of ${method.count} answers`
  if (method.method === 'best') return `the best of ${method.count} answers, chosen by ${method.judge}`
  return `answers checked, with at most ${method.retries} further attempts`
}
