'use strict'
// Shortens lines that are too long. docs/format.md of the project has the rules, under Bounds.

const { Members, Elements, Literal, Text } = require('./tree.js')

const shortText = 40 // the least length of a cut text
const reserve = 176 // what a line needs besides its fields if all of its texts are cut to shortText

// A character, as it is encoded: an escape, a pair of escaped surrogates, or a character of UTF-8.
const character = /\\u[dD][89abAB]..\\u....|\\u....|\\[^u]|./gsu

// cutText returns the beginning of an encoded text that has at most so many bytes and splits no character.
function cutText(encoded, most) {
  let bytes = 0
  for (const { 0: one, index } of encoded.matchAll(character)) {
    bytes += Buffer.byteLength(one)
    if (bytes > most) return encoded.slice(0, index)
  }
  return encoded
}

// greatestLength returns the greatest length to which the longest texts can be cut so that the line fits with the names
// of these texts, or -1 if that is less than shortText. Texts have the bytes of the text and of its name; around are
// the bytes that each name takes besides.
function greatestLength(texts, lineBytes, maxBytes, around) {
  const sorted = texts.filter((t) => t.bytes > shortText).sort((a, b) => b.bytes - a.bytes)
  let fixed = lineBytes // bytes that are not cut
  for (let i = 0; i < sorted.length; i++) {
    fixed += sorted[i].nameBytes + around - sorted[i].bytes
    const length = Math.floor((maxBytes - fixed) / (i + 1))
    if (length >= (sorted[i + 1]?.bytes ?? shortText)) return length
  }
  return -1
}

// cutJSON returns the tree of a line of that many bytes, with its texts cut so that it has at most maxBytes.
function cutJSON(tree, lineBytes, maxBytes) {
  const texts = []
  collect(tree, '')
  const length = greatestLength(texts, lineBytes + ',"truncated":[]'.length - 1, maxBytes, '"",'.length)
  if (length < 0) return curtailed(tree, maxBytes - reserve)
  const names = []
  const cut = shortened(tree, '')
  return withTruncated(cut, names)

  function collect(node, path) {
    if (node instanceof Text) {
      texts.push({ bytes: Buffer.byteLength(node.escaped), nameBytes: Buffer.byteLength(path) })
    }
    for (const [key, inner] of children(node)) collect(inner, join(path, key))
  }

  function shortened(node, path) {
    if (node instanceof Text && Buffer.byteLength(node.escaped) > length) {
      names.push(path)
      return new Text(cutText(node.escaped, length))
    }
    if (node instanceof Members) return new Members(node.pairs.map(([k, v]) => [k, shortened(v, join(path, k))]))
    if (node instanceof Elements) return new Elements(node.nodes.map((v, i) => shortened(v, join(path, String(i)))))
    return node
  }
}

function children(node) {
  if (node instanceof Members) return node.pairs
  return node instanceof Elements ? node.nodes.map((inner, i) => [String(i), inner]) : []
}

function join(path, key) { return path === '' ? key : path + '.' + key }

function withTruncated(tree, names) {
  return new Members([...tree.pairs, ['truncated', new Elements(names.map((name) => new Text(name)))]])
}

// curtailed returns a tree with all texts cut to shortText, and without the members and elements that do not fit into
// budget. The event's own members are kept.
function curtailed(tree, budget) {
  const parts = new Set() // the event's own keys below which something is missing
  let used = 1
  const pairs = tree.pairs.map(([key, node], i) => {
    used += Number(i > 0) + Buffer.byteLength(key) + '"":'.length
    return [key, fit(node, 1, key)]
  })
  return withTruncated(new Members(pairs), [...parts])

  // fit returns a node shortened, and adds its length to used. Depth is the number of open brackets around it.
  function fit(node, depth, part) {
    if (node instanceof Literal) {
      used += node.json.length
      return node
    }
    if (node instanceof Text) {
      const text = new Text(cutText(node.escaped, shortText))
      if (text.escaped !== node.escaped) parts.add(part)
      used += Buffer.byteLength(text.json)
      return text
    }
    const kept = []
    used++
    for (const [key, inner] of children(node)) {
      const before = used
      used += Number(kept.length > 0) + (node instanceof Members ? Buffer.byteLength(key) + '"":'.length : 0)
      const member = used > budget ? null : fit(inner, depth + 1, part)
      if (member !== null && used + depth + 1 <= budget) {
        kept.push(node instanceof Members ? [key, member] : member)
        continue
      }
      parts.add(part)
      used = before
    }
    used++
    return node instanceof Members ? new Members(kept) : new Elements(kept)
  }
}

// cutPairs returns pairs of LTSV, as encoded, for a line of that many bytes, so that it has at most maxBytes.
function cutPairs(pairs, lineBytes, maxBytes) {
  const open = '\ttruncated:'
  const texts = pairs.map(([label, value]) => ({ bytes: Buffer.byteLength(value), nameBytes: label.length }))
  const length = greatestLength(texts, lineBytes + open.length - 1, maxBytes, ','.length)
  if (length >= 0) {
    const cut = pairs.map(([label, value]) => [label, cutText(value, length)])
    return [...cut, ['truncated', pairs.filter((pair, i) => cut[i][1] !== pair[1]).map(([label]) => label).join(',')]]
  }
  const kept = []
  let room = maxBytes - open.length - '*\n'.length
  for (const [label, value] of pairs) {
    const cut = cutText(value, shortText)
    const bytes = Number(kept.length > 0) + label.length + 1 + Buffer.byteLength(cut)
    if (bytes > room) continue
    room -= bytes
    kept.push([label, cut])
  }
  return [...kept, ['truncated', '*']]
}

module.exports = { cutJSON, cutPairs }
