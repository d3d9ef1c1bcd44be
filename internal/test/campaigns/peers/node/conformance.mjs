// Preloaded with the conformance suite of MCP, where node is older than 22: the suite imports globSync of
// fs by name, for a command that is not run here.
import fs from 'node:fs'
import { register } from 'node:module'

if (!fs.globSync) register('data:text/javascript,' + encodeURIComponent(`
  const shim = "export * from 'node:fs'; export { default } from 'node:fs'; export const globSync = () => { throw new Error('this node has no globSync') }"
  export const resolve = (specifier, context, next) =>
    specifier === 'fs' && context.parentURL?.includes('/conformance/')
      ? { shortCircuit: true, url: 'data:text/javascript,' + encodeURIComponent(shim) }
      : next(specifier, context)
`))
