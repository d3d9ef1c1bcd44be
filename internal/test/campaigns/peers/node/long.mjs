// What both versions of the official TypeScript client do with calls that take long.
import { want } from './browser.mjs'

const { CONTROL } = process.env

// call is (name, options) => promise of a result. Options are the client's own.
export async function longCalls(name, client, call) {
  const errors = []
  client.onerror = (error) => errors.push(String(error))
  const stop = new AbortController()
  const hanging = call('slow__hang', { signal: stop.signal }).then(() => 'a result', () => 'cancelled')
  await fetch(`${CONTROL}/arrived`)
  const stopped = performance.now()
  const ended = fetch(`${CONTROL}/ended`).then(({ status }) => ({ status, after: performance.now() - stopped }))
  stop.abort('the user pressed stop')
  want(`${name}: a call that is cancelled`, await hanging, 'cancelled')
  const { status, after } = await ended
  want(`${name}: its end at the upstream, ${after.toFixed(1)} ms later`, status, 200)

  const short = await call('slow__hang', { timeout: 500 }).then(() => 'a result', () => 'timed out')
  await fetch(`${CONTROL}/arrived`)
  want(`${name}: a call that takes too long for the client`, short, 'timed out')
  want(`${name}: its end at the upstream`, (await fetch(`${CONTROL}/ended`)).status, 200)

  const plain = await call('slow__long', {})
  want(`${name}: a long call`, plain.content[0].text, '{"late":true}')

  const told = []
  const patient = await call('slow__long', {
    timeout: 2300, // less than the call takes
    resetTimeoutOnProgress: true,
    onprogress: ({ progress }) => told.push(progress),
  })
  want(`${name}: a long call with progress`, patient.content[0].text, '{"late":true}')
  const grows = told.length > 0 && told.every((n, i) => n > (told[i - 1] ?? 0))
  want(`${name}: it was told ${told.join(' ')}, which grows`, grows, true)
  want(`${name}: errors on the way`, errors.join('; '), '')
}
