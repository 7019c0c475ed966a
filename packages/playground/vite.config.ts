// Builds the playground into one file, packages/cli/playground/index.html, which needs no network and no server.
import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'

/** Puts scripts and styles into the page itself. */
function singleFile(): Plugin {
  return {
    name: 'single-file',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const page = bundle['index.html']
      if (page?.type !== 'asset') throw new Error('there is no page')
      let html = String(page.source)
      for (const [name, part] of Object.entries(bundle)) {
        if (part === page) continue
        const text = part.type === 'chunk' ? part.code : String(part.source)
        const isStyle = name.endsWith('.css')
        const tag = isStyle
          ? new RegExp(`<link[^>]*href="[^"]*${name}"[^>]*>`)
          : new RegExp(`<script[^>]*src="[^"]*${name}"[^>]*></script>`)
        if (!tag.test(html)) throw new Error(`${name} is not in the page`)
        const inline = isStyle
          ? `<style>${text}</style>`
          : `<script type="module">${text.replaceAll('</script', String.raw`<\/script`)}</script>`
        html = html.replace(tag, '')
        const end = isStyle ? '</head>' : '</body>'
        html = html.replace(end, () => `${inline}\n${end}`)
        delete bundle[name]
      }
      page.source = html
    },
  }
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [singleFile()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: fileURLToPath(new URL('../cli/playground', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
  },
})
