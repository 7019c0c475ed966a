// The default theme, with a live picture on the page of every algorithm.
import { h } from 'vue'
import { useData, type Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme'
import AlgorithmPicture from './AlgorithmPicture.vue'

const PAGE = /reference\/algorithms\/([a-z-]+)\.md$/

const theme: Theme = {
  extends: DefaultTheme,
  Layout: () => {
    const { page } = useData()
    const name = PAGE.exec(page.value.relativePath)?.[1]
    return h(DefaultTheme.Layout, null, {
      'doc-before': () =>
        name === undefined || name === 'index' ? null : h(AlgorithmPicture, { key: name, name }),
    })
  },
}

export default theme
