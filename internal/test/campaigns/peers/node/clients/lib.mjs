// This module has what the programs share, each of which is one client as it comes. They say each step that was right.
// Their browser is the test: it reads "visit: URL", signs its user in there, and answers where it was sent then.
import readline from 'node:readline'

export const { ISSUER, ID, SECRET, REDIRECT, SUB, EMAIL } = process.env

export async function visit(url) {
  const lines = readline.createInterface({ input: process.stdin })
  console.log('visit: ' + url)
  const back = await new Promise((resolve) => lines.once('line', resolve))
  lines.close()
  return back
}

export function want(step, got, wanted) {
  if (got !== wanted) throw new Error(`${step}: ${JSON.stringify(got)}, want ${JSON.stringify(wanted)}`)
  console.log('ok: ' + step)
}

// userInfo is for clients that have no method of their own for it: what they give is the token.
export async function userInfo(token) {
  const answer = await fetch(ISSUER + '/oauth/userinfo', { headers: { Authorization: 'Bearer ' + token } })
  return answer.json()
}

// refused is the error of what has to be refused.
export async function refused(act) {
  try {
    await act()
  } catch (e) {
    return e
  }
}
