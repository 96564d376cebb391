import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { AgogeError } from '../error.ts'
import { createRandom } from '../engine/random/index.ts'
import { createAdapter, loraSettings } from '../llm/adapter/lora.ts'
import { trainTokenizer } from '../llm/tokenizer/bpe-train.ts'
import { readCheckpoint, writeCheckpoint } from '../llm/checkpoint/checkpoint.ts'
import type { Checkpoint } from '../llm/checkpoint/checkpoint.ts'
import { checksumsFile, readWithChecksum, parseChecksums, withChecksum } from './checksums.ts'
import type { TransformerConfig } from '../llm/model/config.ts'
import { createOptimizerState } from '../llm/model/optimizer.ts'
import { initialiseParameters } from '../llm/model/parameters.ts'
import { loadScalarModel, createScalarModel } from '../llm/backend/scalar-model.ts'
import { filesBeneath, forEachDamage } from './testing/faults.ts'
import { readNote, writeNote } from '../llm/backend/tinker/checkpoint-note.ts'
import { createTokenizer } from '../llm/tokenizer/tokenizer.ts'

const config: TransformerConfig = {
  vocab_size: 300,
  hidden_size: 8,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  num_key_value_heads: 2,
  intermediate_size: 8,
  rope_theta: 10_000,
  rms_norm_eps: 1e-5,
  tie_word_embeddings: true,
  max_position_embeddings: 16,
}
const root = mkdtempSync(join(tmpdir(), 'agoge-checksums-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** A checkpoint with every kind of file. */
function wholeCheckpoint(): Checkpoint {
  const parameters = initialiseParameters(config, 1)
  const adapter = createAdapter(parameters, loraSettings({ rank: 2 }, parameters.layout, config))
  const optimizer = { ...createOptimizerState(adapter.layout.size), matrixSteps: 3, otherSteps: 3 }
  const random = createRandom(1, 'moments')
  for (const moment of [optimizer.first, optimizer.second, optimizer.momentum])
    for (let i = 0; i < moment.length; i++) moment[i] = random.next()
  const tokenizer = createTokenizer(
    trainTokenizer(['a text'], { vocabularySize: 258, specialTokens: ['<|end|>', '<|x|>'] }),
  )
  const companions = {
    'chat_template.jinja': '{{ messages }}',
    'generation_config.json': '{"eos_token_id": 1}',
  }
  return { config, parameters, adapter, optimizer, tokenizer, companions, weightVersion: 3 }
}

test('a checkpoint with flipped bytes, or a file that is cut or gone, is never another one without a word', async () => {
  const folder = join(root, 'checkpoint')
  await writeCheckpoint(folder, wholeCheckpoint())
  const same = JSON.stringify(await readCheckpoint(folder))
  const refusals: string[] = []
  for (const name of filesBeneath(folder))
    await forEachDamage(join(folder, name), async (damage) => {
      try {
        const read = await readCheckpoint(folder)
        // Resuming reports the lost files of the training.
        if (read.optimizerLost === true)
          expect([damage, name].join()).toMatch(/deleted,(state.json|optimizer)/)
        else expect(JSON.stringify(read), `${damage} ${name}`).toBe(same)
      } catch (error) {
        if (!AgogeError.isInstance(error)) throw error
        expect(error.code).toBe('bad-checkpoint')
        expect(name === checksumsFile || error.message.includes(join(folder, name)), error.message).toBe(true)
        refusals.push(`${damage} ${name}`)
      }
    })
  const weights = refusals.filter((refusal) => refusal.endsWith(' model.safetensors'))
  expect(weights.length).toBe(9)
  expect(refusals).toContain(`deleted ${join('adapter', 'base.safetensors')}`)
  expect(JSON.stringify(await readCheckpoint(folder))).toBe(same)
})

test('the error for a damaged checkpoint names the intact ones beside it; one without checksums is read', async () => {
  for (const name of ['one', 'two', 'three'])
    await writeCheckpoint(join(root, 'run', name), wholeCheckpoint())
  for (const name of ['one', 'two']) {
    const file = join(root, 'run', name, 'state.json')
    writeFileSync(file, readFileSync(file, 'utf8').replace('"weightVersion":3', '"weightVersion":4'))
  }
  await expect(readCheckpoint(join(root, 'run', 'one'))).rejects.toMatchObject({
    message: `${join(root, 'run', 'one', 'state.json')} is damaged`,
    expected: expect.stringMatching(/^sha-256 [0-9a-f]{64}, as it was saved$/),
    hint: `Intact checkpoints beside it: ${join(root, 'run', 'three')}; if the file was changed on purpose, remove ${join(root, 'run', 'one', checksumsFile)}`,
  })
  rmSync(join(root, 'run', 'one', checksumsFile))
  expect((await readCheckpoint(join(root, 'run', 'one'))).weightVersion).toBe(4)
})

test('two checkpoints of the same model have the same bytes', async () => {
  const folders = ['first', 'second'].map((name) => join(root, 'equal', name))
  for (const folder of folders) await writeCheckpoint(folder, wholeCheckpoint())
  const [first, second] = folders.map((folder) =>
    Object.fromEntries(
      filesBeneath(folder).map((name) => [name, readFileSync(join(folder, name), 'base64')]),
    ),
  )
  expect(Object.keys(first).length).toBeGreaterThan(8)
  expect(second).toEqual(first)
})

test('the head of a scalar model, and the note of weights on a server, are verified too', async () => {
  const folder = join(root, 'scalar')
  const model = createScalarModel({ config, seed: 1 })
  await model.save(folder)
  await model.dispose()
  await forEachDamage(join(folder, 'score.safetensors'), () =>
    expect(loadScalarModel(folder)).rejects.toThrow('score.safetensors'),
  )
  const note = {
    schema: 1,
    path: 'tinker://m/weights/a',
    baseModel: 'b',
    loraRank: 0,
    weightVersion: 2,
    server: 's',
  } as const
  writeNote(join(root, 'note'), note)
  expect(readNote(join(root, 'note'))).toEqual(note)
  await forEachDamage(join(root, 'note', 'tinker.json'), (damage) =>
    expect(() => readNote(join(root, 'note')), damage).toThrow('does not tell where'),
  )
})

test('a list of checksums cannot leave its folder, and a changed object fails its checksum', () => {
  const sum = 'a'.repeat(64)
  expect(parseChecksums(`${sum}  adapter/base.safetensors\n`)).toEqual(
    new Map([['adapter/base.safetensors', sum]]),
  )
  for (const text of [
    '',
    `${sum}  a`,
    `${sum} a\n`,
    `${sum}  ../a\n`,
    `${sum}  /etc/a\n`,
    `${sum}  a/../../b\n`,
    'x\n',
  ])
    expect(parseChecksums(text), text).toBeUndefined()
  const text = withChecksum({ step: 3, parts: { b: [0.1, -0], a: null } }, 1)
  expect(readWithChecksum(text)?.fields).toEqual({ step: 3, parts: { b: [0.1, 0], a: null } })
  expect(readWithChecksum(text.replace('3', '4'))).toBeUndefined()
  expect(readWithChecksum(text.replace('"sha256"', '"sha356"'))).toBeUndefined()
  expect(readWithChecksum('{"step":3}')).toEqual({ fields: { step: 3 } })
})
