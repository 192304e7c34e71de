// perfetto - what Perfetto's own trace processor makes of a trace.
//
//	node perfetto.mjs ENGINE TRACE SQL...
//
// ENGINE is the directory with the trace processor as WebAssembly
// (trace_processor.wasm, engine_bundle.node.js, engine.mjs).  Each answer is a
// line of JSON: an array of rows.  A query that fails ends it with status 1.
//
// SPDX-License-Identifier: MIT
import fs from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';
import { pathToFileURL } from 'node:url';

const [engine, trace, ...queries] = process.argv.slice(2);
const PART = 16 << 20;

// The engine is made for a worker of a browser: as much of one as it asks for.
function pretendWorker() {
	const scope = globalThis;
	const set = (name, value) => Object.defineProperty(scope, name,
		{ value, configurable: true, writable: true });
	set('self', scope);
	set('location', { href: pathToFileURL(engine).href + '/' });
	scope.WorkerGlobalScope = class {};
	scope.XMLHttpRequest = class {
		open(method, url) { this.url = url; }
		send() {
			const bytes = fs.readFileSync(
				path.join(engine, path.basename(this.url)));
			this.status = 200;
			this.response = bytes.buffer.slice(bytes.byteOffset,
				bytes.byteOffset + bytes.length);
		}
	};
	console.warn = () => {};
}

async function open() {
	vm.runInThisContext(
		fs.readFileSync(path.join(engine, 'engine_bundle.node.js'), 'utf8'),
		{ filename: 'engine_bundle.js' });
	const module = await import(
		pathToFileURL(path.join(engine, 'engine.mjs')).href);
	await new Promise((done) => setImmediate(done));
	class Engine extends module.EngineBase {
		constructor() {
			super();
			this.mode = 'WASM';
			this.id = 'engine';
			this.port = { onmessage: null, postMessage: (bytes) =>
				queueMicrotask(() => this.onRpcResponseBytes(bytes)) };
			globalThis.onmessage({ data: this.port });
		}
		rpcSendRequestBytes(bytes) {
			const copy = bytes.slice();
			setImmediate(() => this.port.onmessage({ data: copy }));
		}
	}
	return new Engine();
}

async function ask(engine, sql) {
	const answer = await engine.query(sql);
	const columns = answer.columns();
	const rows = [];
	for (const row = answer.iter({}); row.valid(); row.next())
		rows.push(columns.map((column) => {
			const value = row.get(column);
			return typeof value === 'bigint' ? value.toString() : value;
		}));
	return rows;
}

pretendWorker();
const processor = await open();
const bytes = fs.readFileSync(trace);
for (let at = 0; at < bytes.length; at += PART)
	await processor.parse(new Uint8Array(bytes.subarray(at, at + PART)));
await processor.notifyEof();
for (const sql of queries)
	console.log(JSON.stringify(await ask(processor, sql)));
process.exit(0);
