// This module resolves imports without an extension, as the bundlers do that such packages are made for.
import { register } from 'node:module'

register('data:text/javascript,' + encodeURIComponent(`export async function resolve(specifier, context, next) {
  try {
    return await next(specifier, context)
  } catch (e) {
    if (!/^\\.{1,2}\\//.test(specifier)) throw e
    return next(specifier + (e.code === 'ERR_UNSUPPORTED_DIR_IMPORT' ? '/index.js' : '.js'), context)
  }
}`))
