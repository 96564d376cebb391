import { AgogeError } from '../../error.ts'
import type { BonusSettings } from '../../classic/training/find-run.ts'

/**
 * `--bonus rnd,weight=0.1,features=32`: the kind, then its settings.
 *
 * @throws AgogeError for what is no setting; whether the kind has such a one is checked with the rest of the run.
 */
export function readBonus(text: string): BonusSettings {
  const [kind = '', ...parts] = text.split(',').map((part) => part.trim())
  return { kind, ...Object.fromEntries(parts.map(readSetting)) }
}

function readSetting(text: string): [name: string, value: number] {
  const [, name, value = ''] = /^([a-z]+)=([\d.e+-]+)$/i.exec(text) ?? []
  if (name !== undefined && Number.isFinite(Number(value))) return [name, Number(value)]
  throw new AgogeError('--bonus takes a kind and its settings', {
    code: 'bad-option',
    given: text,
    expected: 'NAME=NUMBER after the kind, for example rnd,weight=0.1',
    hint: 'counts,resolution=0.01; counts,hashBits=16; rnd,features=16; icm,beta=0.2',
  })
}
