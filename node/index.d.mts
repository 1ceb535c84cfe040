import weir from './index.js'

export default weir
