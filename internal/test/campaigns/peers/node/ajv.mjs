// Compiles input schemas as the strictest clients do: JSON Schema 2020-12, strict mode, every
// pattern with the flag u. Standard input is a JSON list of {name, schema, valid, invalid}.
import { readFileSync } from 'node:fs'
import Ajv2020 from 'ajv/dist/2020.js'

// A list of types is how 2020-12 says nullable, so strict types take it. Formats are
// annotations there, and OpenAPI's registry of them is open.
const options = { strict: true, allowUnionTypes: true, validateFormats: false, unicodeRegExp: true, allErrors: true }
const ajv = new Ajv2020(options)
let compiled = 0, judged = 0, bad = 0
const wrong = (name, why) => { if (bad++ < 15) console.log(`wrong: ${name}: ${why}`.slice(0, 600)) }
for (const { name, schema, valid = [], invalid = [] } of JSON.parse(readFileSync(0, 'utf8'))) {
  let check
  try {
    check = ajv.compile(schema)
    compiled++
  } catch (e) {
    wrong(name, `${e.message} in ${JSON.stringify(schema).slice(0, 3000)}`)
    continue
  }
  for (const v of valid) if (judged++, !check(v)) wrong(name, `${JSON.stringify(v)} is refused: ${JSON.stringify(check.errors)}`)
  for (const v of invalid) if (judged++, check(v)) wrong(name, `${JSON.stringify(v)} is taken`)
}
console.log(`ok: ${compiled} schemas compiled, ${judged} values judged`)
process.exit(bad ? 1 : 0)
