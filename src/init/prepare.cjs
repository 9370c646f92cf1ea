// Preloaded by the sandbox's Node before the program. Decides how the program means to be read and gets out of the way:
// - CommonJS unless its own syntax says ES module; then /workspace/main.cjs becomes main.mjs, with require, module, exports,
//   __filename and __dirname still there, so that the mixes people and models write just run;
// - writes to stdout and stderr wait for the reader: Node drops what a pipe could not take when process.exit is called.
'use strict';
const { isMainThread } = require('node:worker_threads');
const kMain = '/workspace/main.cjs';

if (isMainThread && process.argv[1] === kMain) {
  const fs = require('node:fs');
  const Module = require('node:module');
  // Children of child_process.fork start plain.
  process.execArgv = process.execArgv.filter((argument) => !argument.startsWith('--require='));
  delete require.cache[__filename];
  blockingWrites('stdout', 1);
  blockingWrites('stderr', 2);
  if (isEsModule(fs.readFileSync(kMain, 'utf8'))) {
    const main = '/workspace/main.mjs';
    fs.renameSync(kMain, main);
    process.argv[1] = main;
    // Node has resolved its argument before this file is read: what it will run has to be said here.
    const runMain = Module.runMain;
    Module.runMain = () => {
      Module.runMain = runMain;
      runMain.call(Module, main);
    };
    const names = { require: Module.createRequire(main), module: new Module(main), __filename: main, __dirname: '/workspace' };
    names.module.filename = main;
    names.exports = names.module.exports;
    for (const [name, value] of Object.entries(names)) {
      Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
    }
  }
}

function blockingWrites(name) {
  const property = Object.getOwnPropertyDescriptor(process, name);
  Object.defineProperty(process, name, {
    configurable: true,
    enumerable: true,
    get() {
      const stream = property.get.call(process);
      Object.defineProperty(process, name, { ...property });
      stream._handle?.setBlocking?.(true);
      return stream;
    },
    set: property.set,
  });
}

function compiles(source, wrapper) {
  const vm = require('node:vm');
  try {
    if (wrapper) new vm.Script(wrapper(source), { filename: kMain, importModuleDynamically() {} });
    else vm.compileFunction(source, ['exports', 'require', 'module', '__filename', '__dirname'], { filename: kMain });
    return '';
  } catch (error) {
    return error instanceof SyntaxError ? error.message : '';
  }
}

function isEsModule(text) {
  const source = text.replace(/^\uFEFF/, '').replace(/^#!.*/, '');
  if (!/\b(?:import|export|await)\b/.test(source)) return false;
  const fault = compiles(source);
  if (fault) return /import statement|'import\.meta'|token 'export'|await is only valid|reserved word/.test(fault);
  // "await (x)" and "await [x]" also read as a call and an index of something named await. In a static block the name is
  // reserved, while functions inside it read as ever.
  if (!/\bawait\s*[([`+\-/]/.test(source)) return false;
  return /await|reserved word/.test(compiles(source, (body) => `class C { static {${body}\n} }`));
}
