// Run inside a new image: what is promised to CommonJS programs, used once.
'use strict';
const assert = require('assert');
const { execFileSync } = require('child_process');
const axios = require('axios');
const dayjs = require('dayjs');
const _ = require('lodash');

assert.match(process.version, /^v18\./);
assert.strictEqual(typeof axios.get, 'function');
assert.strictEqual(dayjs('2024-02-28').add(2, 'day').format('YYYY-MM-DD'), '2024-03-01');
assert.deepStrictEqual(_.chunk([1, 2, 3], 2), [[1, 2], [3]]);
assert.strictEqual(new Intl.DateTimeFormat('de-DE', { timeZone: 'Asia/Tokyo' }).resolvedOptions().timeZone, 'Asia/Tokyo');
assert.strictEqual(typeof fetch, 'function');
assert.strictEqual(require('crypto').createHash('sha256').update('').digest('hex').slice(0, 8), 'e3b0c442');
assert.throws(() => execFileSync('npm', ['--version'], { stdio: 'pipe' }), /ENOENT/);
