-- Counts a request of an application. KEYS: a LIST of stamps in microseconds, the newest first. ARGV:
-- time, window, limit. Returns: admitted, remaining, microseconds until that grows.
--
-- It is the script that runs most, so it asks for little: the limit-th newest stamp says whether one more
-- is admitted. The LIST is given two windows when it begins, and again whenever something leaves it: the
-- first request that comes a window later sees to that.
local call, key, w, limit = redis.call, KEYS[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local now, slack = tonumber(ARGV[1]), 1000000
if not now then
  local t = call('TIME')
  now = t[1] * 1000000 + t[2]
end

-- rewind makes stamps in the future, from before the clock was set back, as new as can be: nothing leaves
-- too soon, and nothing stays longer than a window.
local function rewind()
  local all = call('LRANGE', key, 0, -1)
  call('DEL', key)
  for i = 1, #all do call('RPUSH', key, string.format('%.0f', math.min(now, all[i]))) end
end

local nth = call('LINDEX', key, limit - 1)
if nth then
  nth = tonumber(nth)
  if nth > now + slack then
    rewind()
    nth = now
    call('PEXPIRE', key, w / 500 + 2000)
  end
  if nth > now - w then return {0, 0, nth + w - now} end
end

local n = call('LPUSH', key, now) -- Redis writes a number faster than Lua does
local oldest = n > 1 and tonumber(call('LINDEX', key, -1)) or now
if n > 1 and oldest > now - w and oldest <= now + slack then return {1, limit - n, oldest + w - now} end

if oldest > now + slack then
  rewind()
  oldest = now
end
local popped = 0
while oldest <= now - w do -- it ends: now is in the LIST
  popped = popped + 1
  if popped % 8 == 0 then -- many have left: the first that is live is looked for by halves
    local low, high = 1, n
    while low < high do
      local mid = math.floor((low + high) / 2)
      if tonumber(call('LINDEX', key, mid)) > now - w then low = mid + 1 else high = mid end
    end
    call('LTRIM', key, 0, low - 1)
    n = low
  else
    call('RPOP', key)
    n = n - 1
  end
  oldest = tonumber(call('LINDEX', key, -1))
end
call('PEXPIRE', key, w / 500 + 2000)
return {1, limit - n, oldest + w - now}
