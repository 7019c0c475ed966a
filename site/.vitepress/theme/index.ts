// The default theme, with the parts that pages show below their title.
import type { Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme'
import AlgorithmPicture from './AlgorithmPicture.vue'
import ImportHere from './ImportHere.vue'
import './style.css'

const theme: Theme = {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('AlgorithmPicture', AlgorithmPicture)
    app.component('ImportHere', ImportHere)
  },
}

export default theme
