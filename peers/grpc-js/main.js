// A server and a client of @grpc/grpc-js for the tests of Weir, with the commands of
// peers/grpc-go. Messages are bytes without a schema.
'use strict';
const fs = require('node:fs');
const readline = require('node:readline');
const grpc = require('@grpc/grpc-js');

const service = '/grpc.testing.TestService/';
const bytes = (b) => b;
const method = (name, requestStream, responseStream) => ({
  path: service + name, requestStream, responseStream, requestSerialize: bytes, requestDeserialize: bytes,
  responseSerialize: bytes, responseDeserialize: bytes });
const sizes = { 'grpc.max_receive_message_length': 8 << 20 };

async function serve(address, files) {
  let cancelled = 0;
  const server = new grpc.Server(sizes);
  server.addService({ EmptyCall: method('EmptyCall', false, false), UnaryCall: method('UnaryCall', false, false),
    FullDuplexCall: method('FullDuplexCall', true, true),
    StreamingOutputCall: method('StreamingOutputCall', false, true) }, {
    EmptyCall(call, done) { // returns the number of cancelled streams
      const header = new grpc.Metadata();
      header.set('cancelled', String(cancelled));
      call.sendMetadata(header);
      done(null, Buffer.alloc(0));
    },
    UnaryCall(call, done) { // returns the message, or fails if the metadata ask for it
      if (call.metadata.get('wait').length) return;
      const trailer = new grpc.Metadata();
      for (const value of call.metadata.get('echo-bin')) trailer.add('echo-bin', value);
      if (call.metadata.get('fail').length) {
        done({ code: grpc.status.FAILED_PRECONDITION, details: 'not 100% ASCII: ⟂', metadata: trailer });
        return;
      }
      done(null, call.request, trailer);
    },
    StreamingOutputCall(call) { // sends one message, and no end
      call.on('cancelled', () => cancelled++);
      call.write(Buffer.from('x'));
    },
    FullDuplexCall(call) { // sends each message back
      call.on('data', (message) => call.write(message));
      call.on('end', () => call.end());
    },
  });
  const credentials = files.length ? grpc.ServerCredentials.createSsl(null,
    [{ cert_chain: fs.readFileSync(files[0]), private_key: fs.readFileSync(files[1]) }])
    : grpc.ServerCredentials.createInsecure();
  await new Promise((resolve, reject) =>
    server.bindAsync(address, credentials, (err) => err ? reject(err) : resolve()));
}

function connect(address, roots) {
  const credentials = roots.length ? grpc.credentials.createSsl(fs.readFileSync(roots[0]))
    : grpc.credentials.createInsecure();
  return new grpc.Client(address, credentials, { ...sizes, 'grpc.ssl_target_name_override': 'localhost' });
}

const patience = 60; // seconds, for a machine that other tests use too
const inSeconds = (n) => ({ deadline: Date.now() + 1000 * n });

// unary returns the status, the response, the header and the trailers of a call.
function unary(client, name, message, metadata = new grpc.Metadata(), options = inSeconds(patience)) {
  return new Promise((resolve) => {
    const result = {};
    const call = client.makeUnaryRequest(service + name, bytes, bytes, message, metadata, options,
      (err, response) => { result.response = response; });
    call.on('metadata', (header) => { result.header = header; });
    call.on('status', (status) => setImmediate(() => resolve({ ...result, ...status })));
  });
}

const checks = {
  async 'unary calls'(client) {
    for (const size of [0, 1, 70_000, 4 << 20]) {
      const r = await unary(client, 'UnaryCall', Buffer.alloc(size, 'x'));
      if (r.code !== 0 || r.response.length !== size) throw new Error(`${size} bytes: ${r.code} ${r.details}`);
    }
  },
  async 'a status with metadata'(client) {
    const metadata = new grpc.Metadata();
    const value = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    metadata.set('echo-bin', value);
    metadata.set('fail', 'yes');
    const r = await unary(client, 'UnaryCall', Buffer.alloc(9), metadata);
    const echo = r.metadata.get('echo-bin');
    if (r.code !== grpc.status.FAILED_PRECONDITION || r.details !== 'not 100% ASCII: ⟂' ||
      echo.length !== 1 || !value.equals(echo[0])) throw new Error(`${r.code} ${r.details} ${echo}`);
  },
  async 'streaming in both directions'(client) {
    await Promise.all(Array.from({ length: 50 }, () => new Promise((resolve, reject) => {
      const call = client.makeBidiStreamRequest(service + 'FullDuplexCall', bytes, bytes, inSeconds(patience));
      const rest = [1, 70_000, 5];
      call.on('data', (message) => { // the next message follows the response to the one before
        if (message.length !== rest.shift()) reject(new Error(`a message of ${message.length} bytes`));
        if (rest.length) call.write(Buffer.alloc(rest[0])); else call.end();
      });
      call.on('error', reject);
      call.on('status', (status) => status.code === 0 && rest.length === 0 ? resolve()
        : reject(new Error(`the stream ended with ${status.code}`)));
      call.write(Buffer.alloc(rest[0]));
    })));
  },
  async 'a deadline'(client) {
    const metadata = new grpc.Metadata();
    metadata.set('wait', 'yes');
    const r = await unary(client, 'UnaryCall', Buffer.alloc(1), metadata, inSeconds(0.1));
    // The server may reset the stream first.
    if (![grpc.status.DEADLINE_EXCEEDED, grpc.status.UNAVAILABLE].includes(r.code)) {
      throw new Error(`the call ended with ${r.code}`);
    }
  },
  async 'a cancelled stream'(client) {
    const count = async () => Number((await unary(client, 'EmptyCall', Buffer.alloc(0))).header.get('cancelled')[0]);
    const before = await count();
    const call = client.makeServerStreamRequest(service + 'StreamingOutputCall', bytes, bytes, Buffer.alloc(0));
    await new Promise((resolve, reject) => {
      call.on('data', () => call.cancel());
      call.on('error', () => {});
      call.on('status', (s) => s.code === grpc.status.CANCELLED ? resolve() : reject(new Error(s.details)));
    });
    const end = Date.now() + 1000 * patience;
    while (await count() === before) if (Date.now() > end) throw new Error('the server was not informed');
  },
};

async function check(address, roots) {
  const client = connect(address, roots);
  for (const [name, run] of Object.entries(checks)) {
    await run(client).catch((err) => {
      console.error(`${name}: ${err.message}`);
      process.exitCode = 1;
    });
  }
  client.close();
}

// statusName is the name in grpc-go.
const statusName = (code) => code === 0 ? 'OK' : grpc.status[code].toLowerCase().replace(/(^|_)(.)/g,
  (_, blank, letter) => letter.toUpperCase());

async function call(address, roots) {
  const client = connect(address, roots);
  for await (const path of readline.createInterface({ input: process.stdin })) {
    const stream = client.makeServerStreamRequest(path, bytes, bytes, Buffer.alloc(0), inSeconds(patience));
    stream.on('data', () => console.log('message'));
    stream.on('error', () => {});
    const status = await new Promise((resolve) => stream.on('status', resolve));
    console.log(statusName(status.code));
  }
  client.close();
}

const [command, address, ...files] = process.argv.slice(2);
({ serve, check, call })[command](address, files);
