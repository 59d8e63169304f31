; RUN: kc-opt farcl-local-memory %s | FileCheck %s
; Each kernel has its own layout; alignment is kept; the total is rounded up to 128.

; CHECK-NOT: @small
; CHECK-LABEL: define void @one(
; CHECK: [[BASE:%.*]] = call ptr @farcl.local.base()
; CHECK: getelementptr i8, ptr [[BASE]], i64 0
; CHECK-LABEL: define void @both(
; CHECK-DAG: getelementptr i8, ptr {{%.*}}, i64 0
; CHECK-DAG: getelementptr i8, ptr {{%.*}}, i64 64
; CHECK-DAG: "farcl-local-bytes"="128"
; CHECK-DAG: "farcl-local-bytes"="384"
@small = internal global i8 undef, align 1 #0
@wide = internal global [4 x <16 x float>] undef, align 64 #0
define void @one() {
  store i8 1, ptr @small
  ret void
}
define void @both() {
  store i8 1, ptr @small
  store i32 1, ptr getelementptr inbounds (i8, ptr @wide, i64 12)
  ret void
}
attributes #0 = { "farcl-local" }
