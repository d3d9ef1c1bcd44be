// This module has what the pages of browser clients share. A page signs in when it is opened, says each step that was
// right when the browser comes back, and shows #done, or #failed; its button #leave signs out, and it shows #out then.
export const { issuer, id, user, email } = window.settings
export const here = location.origin + location.pathname

export function script(src) {
  return new Promise((resolve, reject) => {
    const onerror = () => reject(new Error('no ' + src))
    document.head.append(Object.assign(document.createElement('script'), { src, onload: resolve, onerror }))
  })
}

export function want(step, got, wanted) {
  if (got !== wanted) throw new Error(`${step}: ${JSON.stringify(got)}, want ${JSON.stringify(wanted)}`)
  document.querySelector('#said').textContent += `ok: ${step}\n`
  return true
}

function show(id, text = id) {
  document.body.append(Object.assign(document.createElement('p'), { id, textContent: text }))
}

// run plays a client: start begins, arrive takes what the browser comes back with, leave signs out. A client that
// goes on from its callback to the page that began says in start that it has arrived.
export async function run({ start, arrive, leave }) {
  document.querySelector('#leave').onclick = async () => {
    sessionStorage.left = 'out'
    await leave().catch((e) => {
      sessionStorage.left = e.stack
      location.reload()
    })
  }
  if (sessionStorage.left) return show('out', sessionStorage.left)
  try {
    const back = /[?&#](code|error)=/.test(location.search + location.hash)
    if (await (back ? arrive() : start())) show('done')
  } catch (e) {
    show('done', 'failed')
    document.querySelector('#said').textContent += `failed: ${e?.stack} ${JSON.stringify(e)}\n`
  }
}
