-- What every transition shares. A script reads through `load`, decides, changes tables only, and
-- writes once, in `commit`: an error on the way there has written nothing.
-- Timers are not set and dropped one by one: they follow from the records, and `commit` stores
-- the difference. The rules are those of core/transitions; a test walks both side by side.
-- Records stand in the store as rows; their columns are named in front of this text.
-- A script is sent with those parts of this text that it uses: parts are parted by empty lines.

local CLOCK, POLICY, DUE, OUT, WAKE, AUDIT, ASKED_INDEX = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local REPLY, HISTORY, SESSION, QUEUE, FOLLOWING = KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12]
local NULL = cjson.null
local WEEK, WAKE_MS, LOOK_MS, CHECK_AGE_MS, MAX_RUNS, MAX_TRIES = 604800000, 5000, 60000, 15000, 3, 5

local R = cjson.decode(ARGV[1])
local FINAL = {done = true, rejected = true, denied = true, expired = true, cancelled = true, abandoned = true}
local ASKED = {open = true, task = true, unknown = true}
local GRANTED = {approved = true, allowed = true}
local TIMER, SYSTEM = {'timer', 'timer'}, {'system', 'system'}

local clock = redis.call('HMGET', CLOCK, 'fixed', 'last')
local now
if clock[1] then
  now = tonumber(clock[1])
else
  local time = redis.call('TIME')
  now = math.max(time[1] * 1000 + math.floor(time[2] / 1000), tonumber(clock[2] or '0'))
end

local M                                   -- the reply's record
local C, present = {}, {}                 -- its calls by id; ids of the present turn, in order
local armed, was = {}, {}                 -- timers and call states before this step
local held_before = {}                    -- granted calls that could not start before this step
local dirty, wrote = {}, false
local orders, hints, changes, blobs = {}, {}, {}, {}
local audit

local function unpacked(columns, text)
  local row, record = cjson.decode(text), {}
  for i = 1, #row do
    if row[i] ~= NULL then record[columns[i]] = row[i] end
  end
  return record
end

local function packed(columns, record)
  local row, last = {}, 0
  for i = 1, #columns do
    local value = record[columns[i]]
    if value == nil then
      row[i] = NULL
    else
      row[i], last = value, i
    end
  end
  for i = #columns, last + 1, -1 do row[i] = nil end
  return cjson.encode(row)
end

local function member(kind, number, call, step, channel)
  return kind .. ',' .. number .. ',' .. step .. ',' .. #call .. ',' .. R.rid .. ',' .. call .. channel
end

local function reply_timers(into)
  if M.state == 'ready' and M.wake_at then into[member('wake', 0, '', 0, '')] = M.wake_at end
  if M.state == 'running' and M.lease_until then into[member('lease', M.fence, '', 0, '')] = M.lease_until end
end

local function call_timers(call, into)
  for _, card in ipairs(call.cards) do
    if card.look_at then into[member('look', 0, call.id, 0, card.channel)] = card.look_at end
  end
  if GRANTED[call.state] and call.grant_until then
    into[member('lapse', call.revision, call.id, 0, '')] = call.grant_until
  end
  if not (ASKED[call.state] and call.deadline) then return end
  into[member('expire', call.revision, call.id, 0, '')] = call.deadline
  local offset = call.remind_ms and call.remind_ms[call.reminded + 1]
  if offset and call.asked_at + offset < call.deadline then
    into[member('remind', call.revision, call.id, call.reminded, '')] = call.asked_at + offset
  end
  local escalate = call.escalate
  if escalate and not call.escalated and call.asked_at + escalate.after_ms < call.deadline then
    into[member('escalate', call.revision, call.id, 0, '')] = call.asked_at + escalate.after_ms
  end
end

local function held_up(call)
  for _, id in ipairs(present) do
    local other = C[id]
    if other.state == 'started' and id ~= call.id and (call.alone or other.alone) then
      return true
    end
  end
  return false
end

local function note_call(id, text)
  local call = unpacked(CALL_COLUMNS, text)
  call.id, call.votes = id, call.votes or {}
  C[id] = call
  was[id] = call.state
  call_timers(call, armed)
end

-- Reads the reply, its present calls and the one the request is about. What is to be answered at
-- once: the kept answer of a request that was seen before, or that there is no such reply.
local function load()
  local about = R.call or ''
  local found = redis.call('HMGET', REPLY, 'm', 'o:' .. (R.name or ''), 'c:' .. about)
  if found[2] then return {found[2]} end
  if not found[1] then return {'null'} end
  M = unpacked(REPLY_COLUMNS, found[1])
  reply_timers(armed)
  present = M.present
  if found[3] then note_call(about, found[3]) end
  local ids, fields = {}, {}
  for _, id in ipairs(present) do
    if not C[id] then
      ids[#ids + 1] = id
      fields[#fields + 1] = 'c:' .. id
    end
  end
  for from = 1, #fields, 1000 do
    local texts = redis.call('HMGET', REPLY, unpack(fields, from, math.min(from + 999, #fields)))
    for i, text in ipairs(texts) do note_call(ids[from + i - 1], text) end
  end
  for _, id in ipairs(present) do
    if GRANTED[C[id].state] and held_up(C[id]) then held_before[id] = true end
  end
end

-- The call that the request is about, if the reply has it in that turn.
local function the_call()
  local call = C[R.call]
  return call and call.turn == R.turn and call or nil
end

local function record(what, actor, note)
  wrote = true
  audit = {what = what, actor = actor, note = note}
end

local function order(kind, call, channel, step)
  local name = call.id .. '/' .. call.revision .. '/' .. kind .. (step or '')
  orders[#orders + 1] = {kind = kind, call = call, channel = channel, name = name}
end

local function quiet(call)
  wrote = true
  dirty[call.id] = true
end

local function show(call)
  call.version = call.version + 1
  for _, card in ipairs(call.cards) do
    if card.ordered then
      order('edit', call, card.channel)
    elseif ASKED[call.state] then
      card.ordered = true
      order('post', call, card.channel)
    end
  end
  changes[#changes + 1] = {call.id, call.before or was[call.id] or '', call.state, call.revision, call.runs}
  call.before = call.state
  quiet(call)
end

local function put(call, actor)
  call.by, call.at = actor, now
  show(call)
end

local function count(list, test)
  local ids = {}
  for _, id in ipairs(list) do
    if test(C[id]) then ids[#ids + 1] = id end
  end
  return ids
end

local function granted() return count(present, function(c) return GRANTED[c.state] end) end
local function running() return count(present, function(c) return c.state == 'started' end) end
local function unfinished() return count(present, function(c) return not FINAL[c.state] end) end

local function has_work()
  if M.stop or #granted() > 0 then return true end
  return #count(present, function(c) return ASKED[c.state] or c.state == 'started' end) == 0
end

local function ready()
  wrote = true
  M.state, M.lease_until, M.wake_at = 'ready', nil, now + WAKE_MS
  hints[#hints + 1] = R.rid
end

local function lost()
  if M.state == 'running' and M.fence == R.fence then return nil end
  return {k = 'Lost', state = M.state, fence = M.fence}
end

local function refused(why, call)
  if not call then return {k = 'Refused', why = 'no_such_call'} end
  local d = call.decision or {}
  return {k = 'Refused', why = why, state = call.state, revision = call.revision, by = call.by, at = call.at,
          decision = d.kind, decider = d.actor, decided_at = d.at}
end

local function settled(call) return {k = 'Settled', state = call.state, revision = call.revision} end

local function decided(call, kind, actor, note)
  call.decision = {kind = kind, actor = actor, at = now, revision = call.revision, note = note, op = note and R.op}
end

local function ask(call, state, because)
  local lasts = ({open = call.timeout_ms, task = call.task_timeout_ms, unknown = call.unknown_timeout_ms})[state]
  call.state, call.because, call.revision, call.votes = state, because, call.revision + 1, {}
  call.asked_at, call.reminded, call.escalated = now, 0, nil
  call.deadline, call.grant_until = now + lasts, nil
end

local function close(call, state, kind, actor, note)
  decided(call, kind, actor, note)
  call.state, call.deadline, call.grant_until = state, nil, nil
  put(call, actor)
end

local function lapse(call)
  record('lapse', TIMER)
  ask(call, call.runs > 0 and 'unknown' or 'open', 'lapsed')
  put(call, TIMER)
end

local function expire(call)
  record('expire', TIMER)
  close(call, call.state == 'unknown' and 'abandoned' or 'expired', 'expire', TIMER)
end

local function withdraw(call, actor, note)
  close(call, call.runs > 0 and 'abandoned' or 'cancelled', 'cancel', actor, note)
end

local function done(call, run, actor)
  call.state, call.done_run, call.deadline, call.grant_until = 'done', run, nil, nil
  call.result_tag = R.tag
  blobs['result:' .. call.id] = ARGV[2]
  put(call, actor)
end

-- The head of the session's queue must be the reply whose key was declared; else: what to say, so
-- that the request comes again with it.
local function queue_moved()
  local head = redis.call('LINDEX', QUEUE, 0) or ''
  if head ~= (R.following or '') then return {'again', head} end
end

local closing, opened = false, nil         -- this reply closes; the next one's record

local function close_reply(outcome, fence)
  M.state, M.outcome, M.closed_at, M.closed_fence, M.lease_until = 'closed', outcome, now, fence, nil
  closing = true
  if (R.following or '') ~= '' then
    M.next_reply = R.following
    opened = unpacked(REPLY_COLUMNS, redis.call('HGET', FOLLOWING, 'm'))
    opened.state, opened.wake_at = 'ready', now + WAKE_MS
    hints[#hints + 1] = R.following
  end
end

local function settle()
  for _, id in ipairs(present) do
    local call = C[id]
    if held_before[id] and GRANTED[call.state] and call.grant_until and not held_up(call) then
      call.grant_until = now + call.grant_lifetime_ms
      quiet(call)
    end
  end
  if M.state == 'parked' and has_work() then ready() end
end

local function store_timers()
  local wanted, gone, new = {}, {}, {}
  reply_timers(wanted)
  for _, call in pairs(C) do call_timers(call, wanted) end
  for name in pairs(armed) do
    if not wanted[name] then gone[#gone + 1] = name end
  end
  for name, at in pairs(wanted) do
    if armed[name] ~= at then
      new[#new + 1] = at
      new[#new + 1] = name
    end
  end
  for from = 1, #gone, 1000 do redis.call('ZREM', DUE, unpack(gone, from, math.min(from + 999, #gone))) end
  for from = 1, #new, 1000 do redis.call('ZADD', DUE, unpack(new, from, math.min(from + 999, #new))) end
end

local function store_call(call, fields)
  local id = call.id
  if #call.votes == 0 then call.votes = nil end
  fields[#fields + 1] = 'c:' .. id
  fields[#fields + 1] = packed(CALL_COLUMNS, call)
  if ASKED[call.state] then
    redis.call('ZADD', ASKED_INDEX, call.asked_at, R.rid .. ',' .. id)
  elseif ASKED[was[id]] then
    redis.call('ZREM', ASKED_INDEX, R.rid .. ',' .. id)
  end
end

-- The reply's fields: its record, what changed of its calls, and the answer if it is kept.
local function store_reply(kept)
  local fields = kept and {'o:' .. R.name, kept} or {}
  if wrote then
    fields[#fields + 1] = 'm'
    fields[#fields + 1] = packed(REPLY_COLUMNS, M)
    for id in pairs(dirty) do store_call(C[id], fields) end
    for field, blob in pairs(blobs) do
      fields[#fields + 1] = field
      fields[#fields + 1] = blob
    end
  end
  for from = 1, #fields, 1000 do
    redis.call('HSET', REPLY, unpack(fields, from, math.min(from + 999, #fields)))
  end
end

local agent                               -- the sealed agent state, when this step writes one

local function store_session()
  if agent then
    redis.call('HSET', SESSION, 'a', cjson.encode({R.rid, M.turn, M.outcome and 1 or 0}), 'agent', agent)
  end
  if not closing then return end
  redis.call('PEXPIREAT', HISTORY, M.closed_at + WEEK)
  redis.call('PEXPIREAT', REPLY, M.closed_at + WEEK)
  if not opened then
    redis.call('HDEL', SESSION, 'active')
    return
  end
  redis.call('LPOP', QUEUE)
  redis.call('HSET', SESSION, 'active', R.following)
  redis.call('HSET', FOLLOWING, 'm', packed(REPLY_COLUMNS, opened))
  redis.call('ZADD', DUE, opened.wake_at, 'wake,0,0,0,' .. R.following .. ',')
end

-- The audit record stands in the partition's stream; the reply's history is the list of its names.
local function store_messages()
  for _, o in ipairs(orders) do
    redis.call('XADD', OUT, '*', 'kind', o.kind, 'rid', R.rid, 'call', o.call.id, 'turn', o.call.turn,
               'channel', o.channel, 'name', o.name)
  end
  for _, rid in ipairs(hints) do redis.call('XADD', WAKE, 'MAXLEN', '~', 10000, '*', 'rid', rid) end
  if not audit then return end
  local row = {now, audit.what, audit.actor, R.op or '', R.rid, M.session_id, M.tenant, M.state, changes,
               R.call or '', audit.note}
  redis.call('RPUSH', HISTORY, redis.call('XADD', AUDIT, '*', 'record', cjson.encode(row)))
end

-- Everything of this step is written here, in one go. `keep`: the answer is kept under the op.
local function commit(answer, keep)
  local text = cjson.encode(answer)
  if wrote then
    settle()
    store_timers()
    store_messages()
  end
  if wrote or (R.name and keep) then store_reply(R.name and text) end
  if wrote then
    store_session()
    if not clock[1] then redis.call('HSET', CLOCK, 'last', now) end
  end
  return {text}
end
