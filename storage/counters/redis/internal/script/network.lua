-- The count of a network: the number of the newest eighth of the window, and how many events came
-- in it and in the eight before it, up to the first that had any. Events leave by eighths, so no window
-- ever holds too many.
local eighths = 9

-- parse returns the counts, newest first, moved forward to an eighth, their sum, and whether they were in
-- the future: then the clock was set back, and they are as new as can be from now on.
local function parse(v, at)
  local c, total, moved = {}, 0, false
  for i = 1, eighths do c[i] = 0 end
  if v then
    local was = unpack_('>I5', v)
    if was > at then was, moved = at, true end
    for i = 1, eighths do
      local to = i + at - was
      if to > eighths or 5 + 3 * i > #v then break end
      local n = unpack_('>I3', v, 3 + 3 * i)
      c[to], total = n, total + n
    end
  end
  return c, total, moved
end

local function count(c, at)
  local n = eighths
  while n > 1 and c[n] == 0 do n = n - 1 end
  return pack('>I5' .. string.rep('I3', n), at, unpack(c, 1, n))
end

-- leaves returns the eighth after whose leaving fewer than limit events are left.
local function leaves(c, total, at, limit)
  for i = eighths, 1, -1 do
    total = total - c[i]
    if total < limit then return at - i + 1 end
  end
  return at
end

local function networkEnds(now, width)
  local at = floor(now / width)
  return function(v)
    local was = unpack_('>I5', v)
    if was > at then return (at + eighths) * width, count((parse(v, at)), at) end
    return (was + eighths) * width
  end
end
