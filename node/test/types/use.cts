import weir = require('weir-log')

const log: weir.Logger<{ rows: number }> = weir({ to: { write() {} } })
log.info('event', { rows: 1 })
// @ts-expect-error: wrong type
log.info('event', { rows: '1' })
const options: weir.Options = { format: 'ltsv', redact: ['password'] }
weir(options).close()
