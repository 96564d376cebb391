import { expect, onTestFinished, test, vi } from 'vitest'

test('WebAssembly computes the same as the native library', async () => {
  // Read when the runtime is first loaded; other tests of this process may have loaded it.
  vi.resetModules()
  vi.stubEnv('AGOGE_RUNTIME', 'web')
  onTestFinished(() => {
    vi.unstubAllEnvs()
    vi.resetModules()
  })
  const { compile, gather, gradients, logSoftmax, matmul, silu, sum, takeAlong } = await import('../index.ts')
  const { evaluateTensors } = await import('../evaluate.ts')
  const { input } = await import('../operators/constant.ts')
  const { loadRuntime } = await import('./runtime.ts')
  const inputs = {
    table: { shape: [5, 4] },
    ids: { shape: ['N'], dtype: 'int32' as const },
    picks: { shape: ['N'], dtype: 'int32' as const },
  }
  const build = ({ table, ids, picks }: Record<string, ReturnType<typeof input>>) => {
    const logits = matmul(silu(gather(table, ids)), table, { transposeB: true })
    const loss = sum(takeAlong(logSoftmax(logits), picks))
    return { loss, gradient: gradients(loss, [table])[0] }
  }
  const feeds = {
    table: { data: Float32Array.from({ length: 20 }, (_, i) => Math.sin(i)), shape: [5, 4] },
    ids: { data: Int32Array.of(1, 1, 4), shape: [3] },
    picks: { data: Int32Array.of(0, 2, 2), shape: [3] },
  }
  const program = await compile(inputs, build)
  expect((await loadRuntime()).name).toBe('onnxruntime-web')
  const gradient = { data: new Float32Array(20), shape: [5, 4] }
  const results = await program.run(feeds, { gradient })
  expect(results['gradient']).toBe(gradient)
  const traced = Object.fromEntries(
    Object.entries(inputs).map(([name, spec]) => [
      name,
      input(name, spec.shape, 'dtype' in spec ? spec.dtype : 'float32'),
    ]),
  )
  const expected = evaluateTensors(build(traced), feeds)
  for (const name of ['loss', 'gradient'])
    expected[name].data.forEach((value, i) => expect(results[name].data[i]).toBeCloseTo(value, 4))
  await program.release()
})

test('where WebAssembly is asked for and missing, the error says what to install', async () => {
  vi.resetModules()
  vi.stubEnv('AGOGE_RUNTIME', 'web')
  vi.doMock('onnxruntime-web', () => {
    throw new Error('Cannot find package')
  })
  onTestFinished(() => {
    vi.doUnmock('onnxruntime-web')
    vi.unstubAllEnvs()
    vi.resetModules()
  })
  const { loadRuntime } = await import('./runtime.ts')
  await expect(loadRuntime()).rejects.toMatchObject({
    code: 'missing-runtime',
    hint: 'npm install onnxruntime-web',
  })
})
