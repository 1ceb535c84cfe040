'use strict'
// Keys with secret values, in fields and in URLs. docs/format.md of the project has the rules.

const redacted = '[redacted]'

const mostKeysKept = 4096

function lower(key) {
  return key.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

// hintOf returns how to write an entry of a list of keys that can match nothing, because it is empty or a path or a
// pattern, as in other libraries. It returns '' for the name of a key.
function hintOf(entry) {
  if (entry !== '' && !/[*.[\]]/.test(entry)) return ''
  const name = lastName(entry.replace(/[.[\]*]+$/, '')).replace(/^["'*]+|["'*]+$/g, '')
  return name === '' ? 'write the name of a key, such as password' : `write '${name}'`
}

// lastName returns the last part of a key with dots or brackets, such as token of user.token, user[token] and
// user[token][].
function lastName(key) {
  return /[.[]/.test(key) ? /[^.[]*$/.exec(key.replace(/[[\]]+$/, ''))[0] : key
}

class Secrets {
  #listed
  #known = new Map() // results of has

  constructor(keys) {
    this.#listed = new Set(keys.map(lower))
  }

  // has reports whether values of the key are secret.
  has(key) {
    let secret = this.#known.get(key)
    if (secret === undefined) {
      secret = this.#listed.has(lower(lastName(key)))
      if (this.#known.size < mostKeysKept) this.#known.set(key, secret)
    }
    return secret
  }

  // query returns a query with the values of secret parameters replaced.
  query(query) {
    let shown = ''
    for (let rest = query, sign = ''; ;) {
      const begin = /^[^&;?#]*/.exec(rest)[0]
      const name = begin.split('=', 1)[0]
      if (begin.includes('=') && this.#hasEncoded(name)) {
        shown += sign + name + '=' + redacted
        rest = rest.replace(/^[^&#]*/, '') // many servers treat ; and ? as part of a value
      } else {
        shown += sign + begin
        rest = rest.slice(begin.length)
      }
      if (rest === '') return shown
      sign = rest[0]
      rest = rest.slice(1)
    }
  }

  // url returns a URL without the user in it, and with its query as query does it.
  url(url) {
    const [, scheme = '', user = '', rest = '', query = ''] = /^([^?#]*?\/\/)?([^/?#]*@)?([^?#]*)(.*)$/s.exec(url)
    return scheme + (scheme !== '' && user !== '' ? redacted + '@' : user) + rest + this.query(query)
  }

  #hasEncoded(name) {
    for (let i = 0; i < 3; i++) {
      if (this.has(name)) return true
      name = decoded(name)
    }
    return false
  }
}

// decoded returns a name with its URL escapes decoded. Invalid escapes are unchanged.
function decoded(name) {
  if (!/[%+]/.test(name)) return name
  const bytes = Buffer.from(name.replaceAll('+', ' ')).toString('latin1')
    .replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}

module.exports = { Secrets, hintOf, redacted }
