-- Counts an event of a client: up to 6 stamps of 7 bytes stand in its field of a bucket, oldest first;
-- more are in a LIST of its own, and the field has 'L' and the newest.
local bucket, list = KEYS[1], KEYS[2]
local inline = 6

local function stamps(v)
  local s = {}
  for i = 1, #v - 6, 7 do s[#s + 1] = unpack_('>I7', v, i) end
  return s
end

local function packed(s)
  local parts = {}
  for i = 1, #s do parts[i] = pack('>I7', s[i]) end
  return table.concat(parts)
end

-- fresh returns the stamps that are in the window, none of them in the future.
local function fresh(s, now, w)
  local by = 0
  if #s > 0 and s[#s] > now + slack then by = s[#s] - now end
  local horizon, kept = now - w, {}
  for i = 1, #s do
    if s[i] - by > horizon then kept[#kept + 1] = s[i] - by end
  end
  return kept, by > 0
end

local function clientEnds(now, w)
  return function(v)
    local listed = #v % 7 == 1
    local s = listed and {unpack_('>I7', v, 2)} or stamps(v)
    if listed then s[2] = nil end
    local kept, moved = fresh(s, now, w)
    if #kept == 0 then return 0 end
    if not moved then return kept[#kept] + w end
    return kept[#kept] + w, listed and 'L' .. packed(kept) or packed(kept)
  end
end

-- open looks at a client. Of its result, placed says whether it has a field or may get one; n, oldest and newest
-- describe its window, and nth(i) returns the i-th newest stamp.
local function open(field, now, w)
  local v = call('HGET', bucket, field)
  if v and #v % 7 == 1 then
    local n, newest, at = look(list, now, w)
    return {placed = true, listed = true, n = n, newest = newest, now = at,
      nth = function(i) return tonumber(call('LINDEX', list, i - 1)) end}
  end
  local s, moved = {}, false
  if v then s, moved = fresh(stamps(v), now, w) end
  if moved then call('HSET', bucket, field, packed(s)) end -- also if the event is refused
  local newest = s[#s] or 0
  now = max(now, newest)
  return {placed = v or room(bucket, now, clientEnds(now, w)), s = s, n = #s, newest = newest, now = now,
    nth = function(i) return s[#s + 1 - i] end}
end

-- add counts an event of a client that has been opened, and returns its stamp.
local function add(c, field, w)
  local at = c.now
  if c.newest >= at then at = c.newest + 1 end
  local v
  if not c.listed and c.n < inline then
    c.s[c.n + 1] = at
    v = packed(c.s)
  else
    if not c.listed then
      call('DEL', list)
      for i = 1, c.n do call('LPUSH', list, string.format('%.0f', c.s[i])) end
      call('PEXPIRE', list, floor(w / 800) + 1000)
      c.listed = true
    end
    push(list, c.n, c.newest, c.now, w)
    v = 'L' .. pack('>I7', at)
  end
  call('HSET', bucket, field, v)
  if floor(at / w * 8) ~= floor(c.newest / w * 8) then expire(bucket, at, w) end
  return at
end
