// trap_rust.rs - a Rust program for test_traps_program.sh. With `--cfg own` it has a global
// allocator of its own, which never calls malloc.
#[cfg(own)]
mod own {
    use std::alloc::{GlobalAlloc, Layout};
    use std::sync::atomic::{AtomicUsize, Ordering};

    const BYTES: usize = 8 << 20;

    struct Bump;

    static mut HEAP: [u64; BYTES / 8] = [0; BYTES / 8];
    static USED: AtomicUsize = AtomicUsize::new(0);

    unsafe impl GlobalAlloc for Bump {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            let room = layout.size() + layout.align();
            let start = USED.fetch_add(room, Ordering::Relaxed);
            if start + room > BYTES {
                return std::ptr::null_mut();
            }
            let place = std::ptr::addr_of_mut!(HEAP) as usize + start;
            ((place + layout.align() - 1) & !(layout.align() - 1)) as *mut u8
        }

        unsafe fn dealloc(&self, _block: *mut u8, _layout: Layout) {}
    }

    #[global_allocator]
    static ALLOCATOR: Bump = Bump;
}

fn main() {
    let words: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
    println!("{}", words.concat().len());
}
