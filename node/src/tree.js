'use strict'
// A line of JSON as a tree, for everything that is done with a finished line: cutting it, LTSV, and the human format.
// Texts stay as they are encoded, so that numbers lose no digit and keys keep their order and their duplicates.

class Literal { // a number, true, false or null
  constructor(json) { this.json = json }
}

class Text { // a string; escaped is its JSON without the quotes
  constructor(escaped) { this.escaped = escaped }
  get json() { return '"' + this.escaped + '"' }
  get value() { return unescape(this.escaped) }
}

class Members { // an object
  constructor(pairs) { this.pairs = pairs } // of an escaped key and a node
  get json() { return '{' + this.pairs.map(([key, node]) => '"' + key + '":' + node.json).join(',') + '}' }
  get(key) { return this.pairs.find(([k]) => k === key)?.[1] }
}

class Elements { // an array
  constructor(nodes) { this.nodes = nodes }
  get json() { return '[' + this.nodes.map((node) => node.json).join(',') + ']' }
}

function unescape(escaped) {
  return escaped.includes('\\') ? JSON.parse('"' + escaped + '"') : escaped
}

// A token is a string, a literal or a sign.
const token = /"([^"\\]*(?:\\.[^"\\]*)*)"|[^",:{}[\]]+|[{}[\],:]/y

// parse returns the tree of JSON that has no space outside of strings.
function parse(json) {
  token.lastIndex = 0
  return value(next())

  function next() { return token.exec(json) }

  function value(found) {
    if (found[1] !== undefined) return new Text(found[1])
    if (found[0] === '{') {
      return new Members(list('}', (key) => {
        next() // the colon
        return [key[1], value(next())]
      }))
    }
    return found[0] === '[' ? new Elements(list(']', value)) : new Literal(found[0])
  }

  function list(closing, read) {
    const items = []
    for (let found = next(); found[0] !== closing; found = next()) items.push(read(found[0] === ',' ? next() : found))
    return items
  }
}

module.exports = { Literal, Text, Members, Elements, parse, unescape }
