'use strict'
// Splits CSV that arrives in pieces into rows. A line break between quotes belongs to its field.

const quote = 0x22
const lineBreak = 0x0a

class Rows {
  #quoted = false
  #head = null // beginning of a row, from the last piece
  rows = 0

  // add calls row(text, number) for each row that ends in the piece. The heading has number 0.
  add(piece, row) {
    let begin = 0
    for (let i = 0; i < piece.length; i++) {
      const byte = piece[i]
      if (byte === quote) this.#quoted = !this.#quoted // a doubled quote changes it twice
      if (byte !== lineBreak || this.#quoted) continue
      row(this.#take(piece.subarray(begin, i)), this.rows++)
      begin = i + 1
    }
    const rest = piece.subarray(begin)
    this.#head = this.#head === null ? Buffer.from(rest) : Buffer.concat([this.#head, rest])
  }

  // end calls row for a last row without a line break.
  end(row) {
    if (this.#head !== null && this.#head.length > 0) row(this.#take(Buffer.alloc(0)), this.rows++)
  }

  #take(rest) {
    const whole = this.#head === null || this.#head.length === 0 ? rest : Buffer.concat([this.#head, rest])
    this.#head = null
    return whole.toString().replace(/\r$/, '')
  }
}

exports.Rows = Rows
