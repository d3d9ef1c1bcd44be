-- Counts failed attempts of an address. Its field of a bucket has entries of 6 bytes, the
-- milliseconds doubled and 1 more for an attempt in flight; before them, 'L' and until when it is locked.
-- KEYS: bucket. ARGV: time, what to do, field, how long failures count and a lock lasts, in milliseconds,
-- and how many failures lock. An attempt that its node never ends counts as long as a failure.
local key, act, field = KEYS[1], ARGV[2], ARGV[3]
local within, lasts, failures = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local us = clock()
local now = floor(us / 1000)

-- parse returns until when there is a lock, failures and attempts in flight, and whether the clock was
-- set back behind any of them: then they are as new as can be from now on.
local function parse(v)
  local locked, failed, flying, from, moved = 0, {}, {}, 1, false
  if not v then return locked, failed, flying end
  if #v % 6 == 1 then
    locked, from = unpack_('>I6', v, 2), 8
    if locked <= now then locked = 0 end
    if locked > now + lasts then locked, moved = now + lasts, true end
  end
  for i = from, #v - 5, 6 do
    local e = unpack_('>I6', v, i)
    local at = floor(e / 2)
    if at > now then at, moved = now, true end
    if at + within > now then
      local list = e % 2 == 1 and flying or failed
      list[#list + 1] = at
    end
  end
  return locked, failed, flying, moved
end

local function packed(locked, failed, flying)
  local parts = {}
  if locked > 0 then parts[1] = 'L' .. pack('>I6', locked) end
  for i = 1, #failed do parts[#parts + 1] = pack('>I6', failed[i] * 2) end
  for i = 1, #flying do parts[#parts + 1] = pack('>I6', flying[i] * 2 + 1) end
  return table.concat(parts)
end

local function ends(v)
  local locked, failed, flying = parse(v)
  local last = locked
  if #failed > 0 then last = max(last, failed[#failed] + within) end
  if #flying > 0 then last = max(last, flying[#flying] + within) end
  return last * 1000, packed(locked, failed, flying)
end

local v = call('HGET', key, field)
local locked, failed, flying, moved = parse(v)

local function keep()
  if locked == 0 and #failed == 0 and #flying == 0 then
    call('HDEL', key, field)
    return
  end
  call('HSET', key, field, packed(locked, failed, flying))
  local lives = max(within, lasts)
  if call('PTTL', key) < lives then call('PEXPIRE', key, floor(lives * 1.25) + 1000) end
end

if moved then keep() end

-- Returns: milliseconds to wait, 1 if that is for a lock, 1 if the address has no place.
if act == 'begin' then
  if locked > 0 then return {locked - now, 1, 0} end
  if #failed + #flying >= failures then return {2000, 0, 0} end
  if not v and not room(key, us, ends) then return {0, 0, 1} end
  flying[#flying + 1] = now
  keep()
  return {0, 0, 0}
end

-- Of one that began without the server ('late') there is no place here. Returns: milliseconds that
-- the address is locked, 1 if it is.
if act ~= 'clear' then
  if act ~= 'late' then table.remove(flying, 1) end
  if act ~= 'pass' then failed[#failed + 1] = now end
  if #failed >= failures then locked, failed = now + lasts, {} end
  keep()
  return {max(0, locked - now), locked > 0 and 1 or 0, 0}
end

-- Clear. Returns: 0, 1 if there was something to forget.
local there = locked > 0 or #failed > 0
locked, failed = 0, {}
if v then keep() end
return {0, there and 1 or 0, 0}
