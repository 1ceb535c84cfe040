// Sends 20 uploads at a time on one connection over HTTP/2: node http2client.mjs URL FILE [ROOTS]
import { connect } from "node:http2";
import { readFileSync } from "node:fs";

const [url, file, roots] = process.argv.slice(2);
const body = readFileSync(file);
const session = connect(url, roots ? { ca: readFileSync(roots) } : {});

function send() {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":method": "POST", ":path": "/", cookie: ["a=b", "c=d"] });
    let length = 0;
    stream.on("data", (part) => { length += part.length; });
    stream.on("end", () => resolve(length));
    stream.on("error", reject);
    stream.end(body);
  });
}

const lengths = await Promise.all(Array.from({ length: 20 }, send));
session.close();
console.log(`${lengths.length} responses of ${Math.min(...lengths)}`);
