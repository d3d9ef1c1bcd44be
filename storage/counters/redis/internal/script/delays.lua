-- Counts failed attempts at an account and delays the next ones. Its field of a bucket has, in
-- milliseconds: the latest time (6 bytes), the delay in units of 250 (1), until when it lasts (6), how many
-- failures there are (1), and how long before the latest time each of them, then each attempt in flight, came (3).
-- KEYS: bucket. ARGV: time, what to do, field, and in milliseconds how long failures count, the least and the
-- most delay, how long an attempt in flight keeps its place; how many failures delay.
local key, act, field = KEYS[1], ARGV[2], ARGV[3]
local within, least, longest, place, after =
  tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local us = clock()
local now = floor(us / 1000)

local function parse(v)
  local failed, flying, delay, till, moved = {}, {}, 0, 0, false
  if not v then return failed, flying, delay, till end
  local base, unit, until_, n = unpack_('>I6BI6B', v)
  moved = base > now or until_ > now + longest -- the clock was set back: it is as new as can be from now on
  base, till = min(base, now), min(until_, now + longest)
  local i = 15
  while i + 2 <= #v do
    local at = base - unpack_('>I3', v, i)
    if n > 0 then
      if at + within > now then failed[#failed + 1] = at end
    elseif at + place > now then
      flying[#flying + 1] = at
    end
    n, i = n - 1, i + 3
  end
  if #failed > 0 then delay = unit * 250 end
  return failed, flying, delay, till, moved
end

local function packed(failed, flying, delay, till)
  local base = max(failed[#failed] or 0, flying[#flying] or 0)
  local parts = {pack('>I6BI6B', base, floor(delay / 250), till, #failed)}
  for i = 1, #failed do parts[#parts + 1] = pack('>I3', base - failed[i]) end
  for i = 1, #flying do parts[#parts + 1] = pack('>I3', base - flying[i]) end
  return table.concat(parts)
end

local function ends(v)
  local failed, flying, delay, till = parse(v)
  if #failed == 0 and #flying == 0 then return 0 end
  local last = max((failed[#failed] or 0) + within, (flying[#flying] or 0) + place)
  return last * 1000, packed(failed, flying, delay, till)
end

-- evict drops the account with the fewest failures: no two accounts are ever counted together.
local function evict()
  local all, fewest, which = call('HGETALL', key), math.huge, nil
  for i = 1, #all, 2 do
    if all[i] ~= '' and all[i] ~= field then
      local failed, flying, delay = parse(all[i + 1])
      local weight = delay > 0 and after or min(#failed + #flying, after)
      if weight < fewest then fewest, which = weight, all[i] end
    end
  end
  if which then call('HDEL', key, which) end
end

local v = call('HGET', key, field)
local failed, flying, delay, till, moved = parse(v)

local function keep()
  if #failed == 0 and #flying == 0 then
    if v then call('HDEL', key, field) end
    return
  end
  if not v and not room(key, us, ends) then evict() end
  call('HSET', key, field, packed(failed, flying, delay, till))
  local lives = max(within, place)
  if call('PTTL', key) < lives then call('PEXPIRE', key, floor(lives * 1.25) + 1000) end
end

if moved then keep() end

-- Returns: milliseconds to wait; of clear, how many failures there were.
if act == 'wait' then return {max(till - now, 0)} end
if act == 'clear' then
  local had = #failed
  failed, delay, till = {}, 0, 0
  if v then keep() end
  return {had}
end
if act == 'begin' then
  if now < till then return {till - now} end
  if delay > 0 and #flying > 0 or delay == 0 and #failed + #flying >= after then return {least} end
  flying[#flying + 1] = now
  keep()
  return {0}
end

if act ~= 'known' then table.remove(flying, 1) end
if act ~= 'pass' then
  failed[#failed + 1] = now
  if #failed > after then table.remove(failed, 1) end
  if delay > 0 or #failed >= after then
    delay = min(max(least, 2 * delay), longest)
    till = now + delay
  end
end
keep()
return {0}
