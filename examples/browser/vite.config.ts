import { fileURLToPath } from 'node:url'
import { defaultClientConditions, defineConfig } from 'vite'

export default defineConfig({
  root: fileURLToPath(new URL('.//', import.meta.url)),
  // Relative, so that the built page works in any folder of a server.
  base: './',
  // Only inside this repository: uses the library's sources.
  resolve: { conditions: ['agoge-source', ...defaultClientConditions] },
  worker: { format: 'es' },
  build: { target: 'es2023' },
  // If Vite repackaged ONNX Runtime for development, it would not find its WebAssembly file.
  optimizeDeps: { exclude: ['onnxruntime-web'] },
})
