import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Episode, EpisodeNode, EpisodeSample } from './types.ts'
import { appendEpisodes, decodeEpisode, encodeEpisode, readEpisodes } from './codec.ts'
import { toTrainingSequences } from './training-sequences.ts'

/** An episode whose nodes have the given parents. Every assistant node is a sample of its ancestors. */
function makeEpisode(parents: (number | null)[], assistant: boolean[], lengths: number[]): Episode {
  let next = 100
  const nodes: EpisodeNode[] = parents.map((parent, id) => ({
    id,
    parent,
    agent: 'main',
    role: assistant[id] ? 'assistant' : 'user',
    // Every token of the episode is a unique number, so that it can be traced.
    tokens: Int32Array.from({ length: lengths[id] + 1 }, () => next++),
    text: `node ${id} "quoted" \n end`,
  }))
  const pathTo = (id: number): number[] => {
    const { parent } = nodes[id]
    return parent === null ? [id] : [...pathTo(parent), id]
  }
  const samples: EpisodeSample[] = nodes
    .filter((node) => node.role === 'assistant')
    .map((node) => ({
      path: pathTo(node.id).slice(0, -1),
      output: node.id,
      logprobs: Float32Array.from(node.tokens, (token) => -token / 1000),
      mask: Uint8Array.from(node.tokens, (_, at) => (at === 0 ? 0 : 1)),
      weightVersion: 3,
      sampling: { temperature: 1 },
      trainable: true,
    }))
  return {
    schema: 1,
    id: 'e1',
    group: 'g',
    environment: 'w',
    task: 't',
    kind: 'f',
    seed: 7,
    context: { nested: { value: [1, 'two', null] } },
    status: 'ok',
    ending: 'answered',
    nodes,
    samples,
    rewards: [{ agent: 'main', name: 'part:state', value: null }],
    success: null,
    usage: { promptTokens: 1, sampledTokens: 2, calls: 3, invalidCalls: 0 },
    timing: { seconds: 0.1, toolSeconds: 0.05 },
  }
}

const trees = fc
  .array(fc.record({ parent: fc.nat(), assistant: fc.boolean(), length: fc.nat(5) }), {
    minLength: 1,
    maxLength: 14,
  })
  .map((nodes) =>
    makeEpisode(
      nodes.map(({ parent }, id) => (id === 0 ? null : parent % id)),
      nodes.map(({ assistant }, id) => id > 0 && assistant),
      nodes.map(({ length }) => length),
    ),
  )

test('a conversation of several turns is one sequence', () => {
  const episode = makeEpisode([null, 0, 1, 2], [false, true, false, true], [2, 2, 3, 1])
  const [row, ...others] = toTrainingSequences(episode, (_, index) => ({
    advantage: index + 1,
    weights: { rl: 0.5 },
  }))
  expect(others).toEqual([])
  expect(Array.from(row.tokens)).toEqual(episode.nodes.flatMap((node) => Array.from(node.tokens)))
  expect(Array.from(row.weights.rl)).toEqual([0, 0, 0, 0, 0.5, 0.5, 0, 0, 0, 0, 0, 0.5])
  expect(Array.from(row.advantages)).toEqual([0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 2])
  expect(row.logprobs[4]).toBe(Math.fround(-row.tokens[4] / 1000))
})

test('tokens are trained at the temperature they were drawn at, and SFT tokens at 1', () => {
  const episode = makeEpisode(
    [null, 0, 1, 2, 3, 4],
    [false, true, false, true, false, true],
    [1, 1, 0, 1, 0, 1],
  )
  const temperatures = [0.7, 0, 1.5]
  episode.samples.forEach((sample, i) => (sample.sampling = { temperature: temperatures[i] }))
  const rowOf = (weights: { rl?: number; ce?: number; kl?: number }) =>
    toTrainingSequences(episode, () => ({ advantage: 1, weights }))[0]
  const drawn = [1, 1, 1, 0.7, 1, 1, 1, 1, 1, 1.5].map(Math.fround)
  expect(Array.from(rowOf({ rl: 1 }).temperatures!)).toEqual(drawn)
  expect(Array.from(rowOf({ kl: 1, ce: 1 }).temperatures!)).toEqual(drawn)
  expect(rowOf({ ce: 1 })).not.toHaveProperty('temperatures')
  episode.samples.forEach((sample) => (sample.sampling = { temperature: 1 }))
  expect(rowOf({ rl: 1 })).not.toHaveProperty('temperatures')
})

test('in any tree each sampled token is trained exactly once, after exactly its prompt', () => {
  fc.assert(
    fc.property(trees, (episode) => {
      const rows = toTrainingSequences(episode, (_, index) => ({ advantage: index, weights: { rl: 1 } }))
      const trained = new Map<number, number[]>()
      for (const row of rows) {
        row.tokens.forEach((token, t) => {
          if (row.weights.rl[t] === 0) return
          expect(trained.has(token)).toBe(false)
          expect(row.logprobs[t]).toBe(Math.fround(-token / 1000))
          trained.set(token, Array.from(row.tokens.subarray(0, t)))
        })
      }
      let expected = 0
      for (const sample of episode.samples) {
        const prompt = sample.path.flatMap((id) => Array.from(episode.nodes[id].tokens))
        const output = Array.from(episode.nodes[sample.output].tokens)
        output.forEach((token, at) => {
          if (sample.mask[at] === 0) return
          expected++
          expect(trained.get(token)).toEqual([...prompt, ...output.slice(0, at)])
        })
      }
      expect(trained.size).toBe(expected)
      // As few rows as there are samples without a continuation.
      const continued = (sample: EpisodeSample): boolean =>
        episode.samples.some((other) => other !== sample && other.path.includes(sample.output))
      expect(rows.length).toBe(episode.samples.filter((sample) => !continued(sample)).length)
    }),
  )
})

test('masked episodes, untrainable samples and samples without an advantage give no rows', () => {
  const episode = makeEpisode([null, 0], [false, true], [2, 2])
  const advantage = () => ({ advantage: 1, weights: { rl: 1 } })
  expect(toTrainingSequences({ ...episode, status: 'masked' }, advantage)).toEqual([])
  expect(toTrainingSequences(episode, () => null)).toEqual([])
  const samples = episode.samples.map((sample) => ({ ...sample, trainable: false }))
  expect(toTrainingSequences({ ...episode, samples }, advantage)).toEqual([])
})

test('a sample that does not fit its node is refused', () => {
  const episode = makeEpisode([null, 0], [false, true], [2, 2])
  const advantage = () => ({ advantage: 1, weights: { rl: 1 } })
  const [sample] = episode.samples
  const broken = (fields: Partial<EpisodeSample>): Episode => ({
    ...episode,
    samples: [{ ...sample, ...fields }],
  })
  expect(() => toTrainingSequences(broken({ mask: new Uint8Array(2) }), advantage)).toThrow(/3 tokens/)
  expect(() => toTrainingSequences(broken({ path: [9] }), advantage)).toThrow(/node 9/)
  expect(() => toTrainingSequences(broken({ path: [], mask: Uint8Array.of(1, 1, 1) }), advantage)).toThrow(
    /first token/,
  )
  expect(() => toTrainingSequences({ ...episode, samples: [sample, sample] }, advantage)).toThrow(
    /two samples/,
  )
})

test('episodes survive a round trip bit for bit', () => {
  fc.assert(
    fc.property(trees, (episode) => {
      expect(decodeEpisode(encodeEpisode(episode))).toEqual(episode)
    }),
  )
})

test('a damaged record is refused by the name of its field', () => {
  const line = encodeEpisode(makeEpisode([null, 0], [false, true], [2, 2]))
  const broken = (fields: object): string => JSON.stringify({ ...JSON.parse(line), ...fields })
  expect(() => decodeEpisode('{"schema":1', 'file:3')).toThrow(/file:3 is not JSON/)
  expect(() => decodeEpisode(broken({ schema: 2 }))).toThrow(/schema/)
  expect(() => decodeEpisode(broken({ status: 'great' }))).toThrow(/status/)
  expect(() => decodeEpisode(broken({ usage: {} }))).toThrow(/usage\.promptTokens/)
  expect(() => decodeEpisode(broken({ nodes: [{ tokens: [1.5] }] }))).toThrow(/nodes\[0\]\.tokens/)
  expect(() => decodeEpisode(broken({ samples: [{ mask: 'AAE=', logprobs: 'AAAA' }] }))).toThrow(
    /samples\[0\]\.logprobs/,
  )
})

test('the store loses only the line that a kill tore, and appends after it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-store-'))
  try {
    const path = join(folder, 'episodes.jsonl')
    expect(readEpisodes(path)).toEqual([])
    const episode = makeEpisode([null, 0], [false, true], [2, 2])
    appendEpisodes(path, [episode, { ...episode, id: 'e2' }])
    appendFileSync(path, encodeEpisode(episode).slice(0, 100))
    expect(readEpisodes(path).map(({ id }) => id)).toEqual(['e1', 'e2'])
    appendEpisodes(path, [{ ...episode, id: 'e3' }])
    expect(readEpisodes(path).map(({ id }) => id)).toEqual(['e1', 'e2', 'e3'])
    writeFileSync(path, readFileSync(path, 'utf8').replace('"schema":1', '"schema":'))
    expect(() => readEpisodes(path)).toThrow(/episodes\.jsonl:1/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('episodes of earlier versions name their task with the split of today', () => {
  const record = JSON.parse(encodeEpisode(makeEpisode([null, 0], [false, true], [2, 2]))) as Record<
    string,
    unknown
  >
  const line = JSON.stringify({ ...record, task: 'filesystem/unseen-wording/read/3' })
  expect(decodeEpisode(line).task).toBe('filesystem/unseen-paraphrase/read/3')
})

test('episodes of version 0.1 are read, with `world` and `family`', () => {
  const line = encodeEpisode(makeEpisode([null, 0], [false, true], [2, 2]))
  const { environment: world, kind: family, ...rest } = JSON.parse(line) as Record<string, unknown>
  expect(decodeEpisode(JSON.stringify({ ...rest, world, family }))).toEqual(decodeEpisode(line))
})

test('a record whose nodes and samples are of the wrong types is refused, also one that nobody could write again', () => {
  const line = encodeEpisode(makeEpisode([null, 0], [false, true], [2, 2]))
  const whole = JSON.parse(line) as { nodes: object[]; samples: object[] }
  const broken = (field: 'nodes' | 'samples', change: object): string =>
    JSON.stringify({ ...whole, [field]: [{ ...whole[field][0], ...change }] })
  for (const change of [
    { id: 'a' },
    { parent: {} },
    { role: 'robot' },
    { text: 1 },
    { calls: [{}] },
    { callId: 2 },
  ])
    expect(() => decodeEpisode(broken('nodes', change))).toThrow(`nodes[0].${Object.keys(change)[0]}`)
  for (const change of [
    { path: 3 },
    { path: ['a'] },
    { output: null },
    { sampling: 1 },
    { sampling: { temperature: {} } },
  ])
    expect(() => decodeEpisode(broken('samples', change))).toThrow(`samples[0].${Object.keys(change)[0]}`)
  expect(() => decodeEpisode(JSON.stringify({ ...whole, rewards: [{ value: 'a' }] }))).toThrow('rewards[0]')
  const deep = line.replace('"two"', '['.repeat(20_000) + ']'.repeat(20_000))
  expect(() => decodeEpisode(deep)).toThrow('nested too deep')
})
