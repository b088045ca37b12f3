;; UTF-8 bytes as the inside of a JSON string, sixteen at a time. simd-escape.ts has the program in its compiled form;
;; a test compiles this again and compares. Node has no other way to look at more than a word at once.
;;
;; Memory: for each byte below 128 what it is escaped to, eight bytes each, from 0 on; how long that is, a byte each, from
;; 1024 on. Both are written by simd-escape.ts, as are the bytes to be escaped.
(module
  (memory (export "memory") 2)
  ;; Of the bytes at `from`, up to `end`, to what lies at `at`; gives where that ends. Up to 15 bytes behind it are overwritten.
  (func (export "escape") (param $from i32) (param $end i32) (param $at i32) (result i32)
    (local $bytes v128)
    (local $marks i32)
    (local $plain i32)
    (local $byte i32)
    (block $done
      (loop $next
        (if (i32.gt_u (i32.add (local.get $from) (i32.const 16)) (local.get $end))
          (then
            ;; fewer than sixteen are left: one by one
            (br_if $done (i32.ge_u (local.get $from) (local.get $end)))
            (local.set $byte (i32.load8_u (local.get $from)))
            (if (i32.eqz (i32.or
                  (i32.lt_u (local.get $byte) (i32.const 0x20))
                  (i32.or
                    (i32.eq (local.get $byte) (i32.const 0x22))
                    (i32.eq (local.get $byte) (i32.const 0x5c)))))
              (then
                (i32.store8 (local.get $at) (local.get $byte))
                (local.set $at (i32.add (local.get $at) (i32.const 1)))
                (local.set $from (i32.add (local.get $from) (i32.const 1)))
                (br $next)))
            (local.set $plain (i32.const 0)))
          (else
            ;; copied, then looked at: up to the first that is escaped they are right
            (local.set $bytes (v128.load (local.get $from)))
            (v128.store (local.get $at) (local.get $bytes))
            (local.set $marks (i8x16.bitmask (v128.or
              (i8x16.lt_u (local.get $bytes) (i8x16.splat (i32.const 0x20)))
              (v128.or
                (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22)))
                (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x5c)))))))
            (if (i32.eqz (local.get $marks))
              (then
                (local.set $from (i32.add (local.get $from) (i32.const 16)))
                (local.set $at (i32.add (local.get $at) (i32.const 16)))
                (br $next)))
            (local.set $plain (i32.ctz (local.get $marks)))
            (local.set $byte (i32.load8_u (i32.add (local.get $from) (local.get $plain))))))
        (local.set $from (i32.add (i32.add (local.get $from) (local.get $plain)) (i32.const 1)))
        (local.set $at (i32.add (local.get $at) (local.get $plain)))
        (i64.store (local.get $at) (i64.load (i32.shl (local.get $byte) (i32.const 3))))
        (local.set $at (i32.add
          (local.get $at)
          (i32.load8_u (i32.add (i32.const 1024) (local.get $byte)))))
        (br $next)))
    (local.get $at)))
