"""What the image promises for JavaScript works under the limits."""

import unittest

from cases import Case, ServerTest, tests_of

LIBRARIES = [
    Case("versions", "js", "console.log(process.versions.node.split('.')[0], process.release.name);", out="18 node\n"),
    Case("libraries_by_require", "js", """
        const axios = require('axios'), _ = require('lodash'), dayjs = require('dayjs');
        console.log(typeof axios.create().get, _.groupBy([1.2, 1.8, 2.1], Math.floor)[1].length, _.VERSION.split('.')[0]);
        console.log(dayjs('2023-12-31T23:00:00').add(90, 'minute').format('YYYY-MM-DD HH:mm'));
        """, out="function 2 4\n2024-01-01 00:30\n"),
    Case("libraries_by_import", "js", """
        import axios, { AxiosError } from 'axios';
        import _ from 'lodash';
        import dayjs from 'dayjs';
        console.log(typeof axios.get, typeof AxiosError, _.sum([1, 2, 3]), dayjs('2024-02-29').add(1, 'year').format('DD.MM.YY'));
        """, out="function function 6 28.02.25\n"),
    Case("parts_of_libraries", "js", """
        const chunk = require('lodash/chunk'), fp = require('lodash/fp'), utc = require('dayjs/plugin/utc');
        const dayjs = require('dayjs'); dayjs.extend(utc);
        console.log(chunk([1, 2, 3], 2).length, fp.map(n => n + 1)([1]).join(), dayjs.utc('2024-01-01T00:00:00Z').hour());
        """, out="2 2 0\n"),
    Case("axios_to_its_own_server", "js", """
        const axios = require('axios'), http = require('http');
        const server = http.createServer((q, r) => { r.setHeader('content-type', 'application/json'); r.end('{"n":41}'); });
        server.listen(0, '127.0.0.1', async () => {
          const { data, status } = await axios.get(`http://127.0.0.1:${server.address().port}/`, { timeout: 5000 });
          console.log(status, data.n + 1); server.close();
        });
        """, out="200 42\n"),
    Case("axios_without_network_says_so", "js", """
        require('axios').get('http://192.0.2.1/', { timeout: 4000 }).catch(e => console.log('failed', Boolean(e.code)));
        """, out="failed true\n", within=8),
]

PLATFORM = [
    Case("files", "js", """
        const fs = require('fs'), { mkdtemp, readdir, readFile, writeFile } = require('fs/promises'), os = require('os');
        (async () => {
          const dir = await mkdtemp(os.tmpdir() + '/x-');
          await Promise.all(Array.from({ length: 60 }, (_, i) => writeFile(`${dir}/${i}`, String(i))));
          const texts = await Promise.all((await readdir(dir)).map(name => readFile(`${dir}/${name}`, 'utf8')));
          fs.appendFileSync('log.txt', 'a'); fs.appendFileSync('log.txt', 'b');
          console.log(texts.reduce((a, b) => a + Number(b), 0), fs.readFileSync('log.txt', 'latin1'), fs.statSync('.').isDirectory());
        })();
        """, out="1770 ab true\n", within=10),
    Case("streams_and_compression", "js", """
        const { pipeline } = require('stream/promises'), fs = require('fs'), zlib = require('zlib');
        (async () => {
          fs.writeFileSync('in', Buffer.alloc(3e6, 'node '));
          await pipeline(fs.createReadStream('in'), zlib.createGzip(), fs.createWriteStream('in.gz'));
          await pipeline(fs.createReadStream('in.gz'), zlib.createGunzip(), fs.createWriteStream('out'));
          console.log(fs.statSync('out').size, zlib.brotliDecompressSync(zlib.brotliCompressSync('q')).toString());
        })();
        """, out="3000000 q\n"),
    Case("worker_threads", "js", """
        const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
        if (isMainThread) {
          const shared = new Int32Array(new SharedArrayBuffer(4));
          const jobs = [1, 2, 3].map(n => new Promise(done => new Worker(__filename, { workerData: { n, shared } }).on('message', done)));
          Promise.all(jobs).then(all => console.log(all.join(), Atomics.load(shared, 0)));
        } else { Atomics.add(workerData.shared, 0, workerData.n); parentPort.postMessage(workerData.n * 2); }
        """, out="2,4,6 6\n"),
    Case("child_processes", "js", """
        const { execFile, fork, spawnSync } = require('child_process');
        if (process.argv[2] === 'child') { process.send({ got: 5 }); process.disconnect(); } else {
          const sync = spawnSync(process.execPath, ['-e', 'console.log(1); console.error(2); process.exit(9)'], { encoding: 'utf8' });
          console.log(sync.stdout.trim(), sync.stderr.trim(), sync.status);
          execFile(process.execPath, ['-p', '6*7'], (e, out) => console.log(out.trim()));
          fork(__filename, ['child']).on('message', m => console.log(m.got));
        }
        """, out_has=["1 2 9\n", "42\n", "5\n"]),
    Case("webassembly", "js", """
        const bytes = Uint8Array.from([0,97,115,109,1,0,0,0,1,7,1,96,2,127,127,1,127,3,2,1,0,7,7,1,3,97,100,100,0,0,10,9,1,7,0,32,0,32,1,106,11]);
        WebAssembly.instantiate(bytes).then(({ instance }) => console.log(instance.exports.add(19, 23)));
        const memory = new WebAssembly.Memory({ initial: 1, maximum: 30000 }); memory.grow(100);
        console.log(memory.buffer.byteLength);
        """, out="6619136\n42\n"),
    Case("crypto", "js", """
        const c = require('crypto');
        console.log(c.createHash('sha256').update('a').digest('hex').slice(0, 8), c.randomUUID().length, c.randomBytes(4).length);
        c.scrypt('p', 's', 32, (e, key) => console.log(key.length));
        const { publicKey, privateKey } = c.generateKeyPairSync('ec', { namedCurve: 'P-256' }), text = Buffer.from('m');
        console.log(c.verify('sha256', text, publicKey, c.sign('sha256', text, privateKey)));
        """, out="ca978112 36 4\ntrue\n32\n"),
    Case("international", "js", """
        console.log(new Intl.DateTimeFormat('de-DE', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(0)));
        console.log(new Intl.NumberFormat('en-IN').format(1234567), 'İ'.toLocaleLowerCase('tr') === 'i', 'ß'.normalize('NFC'));
        console.log(Intl.DateTimeFormat().resolvedOptions().timeZone, new Date(2024, 0, 1).getTimezoneOffset() === 0);
        """, out="1. Januar 1970\n12,34,567 true ß\nUTC true\n"),
    Case("fetch_to_its_own_server", "js", """
        const server = require('http').createServer((q, r) => r.end(q.headers['x-a'])).listen(0, '127.0.0.1', async () => {
          const reply = await fetch(`http://127.0.0.1:${server.address().port}`, { headers: { 'x-a': 'here' } });
          console.log(reply.status, await reply.text()); server.close(); server.closeAllConnections();
        });
        """, out="200 here\n", err=None),
    Case("sockets", "js", """
        const net = require('net');
        const server = net.createServer(s => s.end('bye')).listen('./s.sock', () =>
          net.connect('./s.sock').on('data', d => console.log(String(d))).on('close', () => server.close()));
        """, out="bye\n"),
    Case("timers_and_iteration", "js", """
        const { setTimeout: nap } = require('timers/promises'), { once, EventEmitter } = require('events');
        (async () => {
          const e = new EventEmitter(); setImmediate(() => e.emit('go', 7));
          const [n] = await once(e, 'go'); await nap(20);
          for await (const line of require('readline').createInterface({ input: require('stream').Readable.from(['a\\nb\\n']) })) console.log(line, n);
        })();
        """, out="a 7\nb 7\n"),
    Case("modern_language", "js", """
        class A { #x = 1; static { this.made = true; } get x() { return this.#x; } }
        console.log(A.made, new A().x, [1, 2, 3].at(-1), Object.hasOwn({ a: 1 }, 'a'), 2n ** 70n, null ?? 'd', [3, 1].findLast(n => n < 3));
        console.log(structuredClone(new Map([[1, { a: [2] }]])).get(1).a[0], 'a-b'.replaceAll('-', '+'));
        """, out="true 1 3 true 1180591620717411303424n d 1\n2 a+b\n"),
    Case("cores_and_memory_as_limited", "js", """
        const v8 = require('v8'), os = require('os');
        console.log(v8.getHeapStatistics().heap_size_limit < 512 * 1048576, os.cpus().length > 0, process.memoryUsage().rss > 0);
        """, out="true true true\n"),
    Case("dynamic_code", "js", """
        console.log(new Function('a', 'return a * 2')(4), eval('1 + 1'), require('vm').runInNewContext('x + 1', { x: 5 }));
        """, out="8 2 6\n"),
]


@tests_of(LIBRARIES, PLATFORM)
class NodeRuntime(ServerTest):
    pass


if __name__ == "__main__":
    unittest.main()
