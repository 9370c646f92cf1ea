// Run inside a new image: what is promised to ES modules, used once.
import assert from 'node:assert';
import axios, { AxiosError } from 'axios';
import dayjs from 'dayjs';
import utc from 'dayjs/plugin/utc.js';
import _ from 'lodash';

dayjs.extend(utc);
assert.strictEqual(typeof axios.create().post, 'function');
assert.ok(new AxiosError('x') instanceof Error);
assert.strictEqual(dayjs.utc('2024-01-01T00:00:00Z').hour(), 0);
assert.strictEqual(_.camelCase('one two'), 'oneTwo');
assert.strictEqual((await import('lodash/fp.js')).default.add(1)(2), 3);
