import { fileURLToPath } from 'node:url'
import { defaultClientConditions, defineConfig } from 'vite'

export default defineConfig({
  root: fileURLToPath(new URL('.//', import.meta.url)),
  // Relative, so that the built page works in any folder of any server.
  base: './',
  // Only inside this repository: the library from its sources.
  resolve: { conditions: ['agoge-source', ...defaultClientConditions] },
  worker: { format: 'es' },
  build: { target: 'es2023' },
  // Packed anew for development it would no longer find its WebAssembly.
  optimizeDeps: { exclude: ['onnxruntime-web'] },
})
