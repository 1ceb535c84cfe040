import weir from './src/index.js'

export default weir
