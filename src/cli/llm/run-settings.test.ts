import { expect, test } from 'vitest'
import { backendSettings } from './run-settings.ts'

test('a run keeps where it is trained, never the key', () => {
  expect(backendSettings({})).toEqual({})
  expect(backendSettings({ backend: 'local' })).toEqual({})
  expect(backendSettings({ backend: 'tinker', tinkerUrl: 'http://127.0.0.1:9/api/v1/' })).toEqual({
    backend: 'tinker',
    tinkerUrl: 'http://127.0.0.1:9',
  })
  expect(backendSettings({ backend: 'tinker', tinkerUrl: 'https://a.b/c', tinkerModel: 'm' })).toEqual({
    backend: 'tinker',
    tinkerUrl: 'https://a.b/c',
    tinkerModel: 'm',
  })
  expect(backendSettings({ samplingWeights: 'int8' })).toEqual({ samplingWeights: 'int8' })
})

test('options that do not fit are refused before anything is written', () => {
  for (const options of [
    { backend: 'cloud' },
    { tinkerUrl: 'http://a.b' },
    { tinkerModel: 'm' },
    { backend: 'tinker', samplingWeights: 'int8' as const },
  ])
    expect(() => backendSettings(options)).toThrow(expect.objectContaining({ code: 'bad-option' }))
  for (const tinkerUrl of ['ftp://a.b', 'http://user:word@a.b', 'a.b'])
    expect(() => backendSettings({ backend: 'tinker', tinkerUrl })).toThrow(
      expect.objectContaining({ code: 'bad-tinker-url' }),
    )
})
