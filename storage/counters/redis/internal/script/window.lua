-- A window is a LIST of stamps in microseconds, the newest first, no two of them the same.

-- A clock that is this far behind what was counted has been set back.
local slack = 1000000

-- rewind moves stamps that lie in the future so far back that the newest is now, so that nothing
-- leaves too soon, and nothing stays longer than a window.
local function rewind(key, by)
  local all = call('LRANGE', key, 0, -1)
  call('DEL', key)
  for i = 1, #all do call('RPUSH', key, string.format('%.0f', all[i] - by)) end
end

-- trim removes what has left by a horizon, and returns how many stamps remain.
local function trim(key, n, horizon)
  for _ = 1, 8 do
    if n == 0 or tonumber(call('LINDEX', key, -1)) > horizon then return n end
    call('RPOP', key)
    n = n - 1
  end
  local low, high = 0, n -- stamps before low are live, those from high on are not
  while low < high do
    local mid = floor((low + high) / 2)
    if tonumber(call('LINDEX', key, mid)) > horizon then low = mid + 1 else high = mid end
  end
  if low == 0 then call('DEL', key) elseif low < n then call('LTRIM', key, 0, low - 1) end
  return low
end

-- look returns how many stamps are in the window that ends now, the newest, and the time.
local function look(key, now, w)
  local n, newest = call('LLEN', key), 0
  if n > 0 then
    newest = tonumber(call('LINDEX', key, 0))
    if newest > now + slack then
      rewind(key, newest - now)
      newest = now
    end
    now = max(now, newest)
    n = trim(key, n, now - w)
  end
  return n, newest, now
end

-- push adds a stamp, and has the LIST end when all in it have left. The end is moved once in an
-- eighth of the window, and is an eighth late.
local function push(key, n, newest, now, w)
  local at = now
  if newest >= now then at = newest + 1 end
  call('LPUSH', key, string.format('%.0f', at))
  local eighth = w / 8
  if n == 0 or floor(at / eighth) ~= floor(newest / eighth) then
    call('PEXPIRE', key, floor(w / 800) + 1000)
  end
  return at
end
