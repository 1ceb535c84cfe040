'use strict'
// The forms of a line: JSON in two shapes, LTSV, and the human format. All are made of the JSON of the event.

const { cutJSON } = require('./cut.js')
const { human } = require('./human.js')
const { ltsv } = require('./ltsv.js')
const { escapeSpecial } = require('./text.js')
const { parse } = require('./tree.js')

class JSONForm {
  // Encoded events of at most so many characters are a line of at most maxBytes once escapeSpecial has escaped them,
  // which is faster for many lines at once. A character has at most six bytes then.
  certain

  maxBytes

  constructor(maxBytes) {
    this.maxBytes = maxBytes
    this.certain = Math.floor(maxBytes / 6) - 1
  }

  // errors returns the member for errors, which come from encodeErrors.
  errors(errors) { return ',"errors":[{"message":' + errors.join(',{"message":') + ']' }

  // finish returns the line of an event, with a newline.
  finish(json) { return this.cut(json) }

  // cut returns the line of JSON of an event.
  cut(json) {
    const line = escapeSpecial(json + '\n')
    if (line.length <= this.certain) return line
    const bytes = Buffer.byteLength(line)
    return bytes > this.maxBytes ? cutJSON(parse(line), bytes, this.maxBytes).json + '\n' : line
  }
}

class JSONv1Form extends JSONForm {
  errors([first, ...others]) {
    return ',"error":{"error":' + first + (others.length > 0 ? super.errors(others) : '')
  }
}

// A TextForm converts JSON. An event whose JSON cannot be converted stays JSON, so that no event throws.
class TextForm extends JSONForm {
  certain = -1

  finish(json) {
    try {
      return this.convert(json)
    } catch {
      return this.cut(json) // Object.prototype.toJSON of the program has changed it
    }
  }
}

class LTSVForm extends TextForm {
  convert(json) { return ltsv(escapeSpecial(json), this.maxBytes) }
}

class HumanForm extends TextForm {
  #color

  constructor(maxBytes, color) {
    super(maxBytes)
    this.#color = color
  }

  convert(json) { return human(this.cut(json), this.#color) }
}

const forms = { json: JSONForm, 'json-v1': JSONv1Form, ltsv: LTSVForm, human: HumanForm }

// newForm returns the form with a name of the option format. auto is human on a terminal, and JSON elsewhere.
function newForm(name, maxBytes, isTerminal) {
  const chosen = name === 'auto' ? (isTerminal ? 'human' : 'json') : name
  const { NO_COLOR: noColor, TERM: terminal } = process.env
  return new forms[chosen](maxBytes, isTerminal && !noColor && terminal !== 'dumb')
}

module.exports = { newForm, formats: [...Object.keys(forms), 'auto'] }
