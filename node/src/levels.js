'use strict'

// The levels in the order of their numbers, which events have as severity.
exports.levels = ['fatal', 'error', 'warn', 'info', 'debug']
