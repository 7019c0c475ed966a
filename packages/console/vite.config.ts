// Builds the console into packages/server/console, which the server package carries.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: fileURLToPath(new URL('../server/console', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    // Small files become data: addresses, which the Content-Security-Policy of scripts forbids.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})
